import { type JsonObject, post, subject } from "../request-script.ts";
import { crd, crds } from "./sample-objects.ts";

const object = { type: "object" };
const dry = `${crds}?dryRun=All`;
const group = "bad.example.io";
const text = { type: "string" };
const keeps = { "x-kubernetes-preserve-unknown-fields": true };
const item = { type: "object", properties: { k: text } };
const mapList = (items: JsonObject, keys: readonly string[]): JsonObject => ({
  type: "array",
  items,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});
/** A CRD with other names, or more in its spec. */
const named = (names: JsonObject, spec: JsonObject = {}): JsonObject => {
  const whole = crd(group, "as", "A", object);
  return { ...whole, spec: { ...whole.spec, ...spec, names: { plural: "as", kind: "A", ...names } } };
};
/** A CRD with these versions; each is served and has a schema by default. */
const versioned = (versions: readonly JsonObject[]): JsonObject =>
  named(
    {},
    {
      versions: versions.map((version) => ({
        served: true,
        storage: false,
        schema: { openAPIV3Schema: object },
        ...version,
      })),
    },
  );
const propertiesOf = (properties: JsonObject): JsonObject => ({ type: "object", properties });

/** Properties of a schema, most of which are rejected. */
const badProperties: readonly (readonly [string, JsonObject])[] = [
  ["a type that there is not", { x: { type: "text" } }],
  ["the type null", { x: { type: "null" } }],
  ["items that are a list", { x: { type: "array", items: [{ type: "string" }] } }],
  ["items without a type", { x: { type: "array", items: {} } }],
  ["values of a map without a type", { x: { type: "object", additionalProperties: {} } }],
  ["no additional properties", { x: { type: "object", additionalProperties: false } }],
  ["properties and additional ones", { x: { type: "object", properties: { a: text }, additionalProperties: text } }],
  ["unique items", { x: { type: "array", items: text, uniqueItems: true } }],
  ["a reference", { x: { $ref: "#/x" } }],
  ["definitions", { x: { type: "object", definitions: { a: text } } }],
  ["dependencies", { x: { type: "object", dependencies: { a: ["b"] } } }],
  ["pattern properties", { x: { type: "object", patternProperties: { a: text } } }],
  ["an id", { x: { type: "string", id: "x" } }],
  ["a bad pattern", { x: { type: "string", pattern: "(" } }],
  ["a pattern that looks ahead", { x: { type: "string", pattern: "^(?=a)" } }],
  ["a pattern that refers back", { x: { type: "string", pattern: "(a)\\1" } }],
  ["a type inside of anyOf", { x: { type: "string", anyOf: [{ type: "string" }] } }],
  ["a description inside of oneOf", { x: { type: "string", oneOf: [{ description: "x", minLength: 1 }] } }],
  ["a default inside of allOf", { x: { type: "string", allOf: [{ default: "a" }] } }],
  ["nullable inside of not", { x: { type: "string", not: { nullable: true } } }],
  ["a property that only anyOf knows", { x: { type: "object", anyOf: [{ properties: { a: { minLength: 1 } } }] } }],
  ["items that only allOf knows", { x: { type: "object", allOf: [{ items: { minLength: 1 } }] } }],
  ["integer or string with a type", { x: { type: "string", "x-kubernetes-int-or-string": true } }],
  [
    "integer or string as a union",
    { x: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] } },
  ],
  ["integer or string that keeps all", { x: { "x-kubernetes-int-or-string": true, ...keeps } }],
  ["an embedded resource that is a text", { x: { type: "string", "x-kubernetes-embedded-resource": true } }],
  ["an embedded resource without fields", { x: { type: "object", "x-kubernetes-embedded-resource": true } }],
  ["an embedded resource", { x: { type: "object", "x-kubernetes-embedded-resource": true, ...keeps } }],
  ["a list type on a map", { x: { type: "object", "x-kubernetes-list-type": "atomic" } }],
  ["a map type on a list", { x: { type: "array", items: text, "x-kubernetes-map-type": "atomic" } }],
  ["an unknown map type", { x: { type: "object", "x-kubernetes-map-type": "heap" } }],
  ["keys without a map list", { x: { type: "array", items: text, "x-kubernetes-list-map-keys": ["k"] } }],
  ["a map list of texts", { x: mapList(text, ["k"]) }],
  ["a map list with an unknown key", { x: mapList(item, ["other"]) }],
  ["a map list with a key twice", { x: mapList({ ...item, required: ["k"] }, ["k", "k"]) }],
  ["a map list with an optional key", { x: mapList(item, ["k"]) }],
  ["a map list with a good key", { x: mapList({ ...item, required: ["k"] }, ["k"]) }],
  [
    "a map list with an object for a key",
    { x: mapList({ type: "object", required: ["k"], properties: { k: object } }, ["k"]) },
  ],
  ["a set of objects", { x: { type: "array", items: object, "x-kubernetes-list-type": "set" } }],
  [
    "a set of texts that may be null",
    { x: { type: "array", items: { ...text, nullable: true }, "x-kubernetes-list-type": "set" } },
  ],
  ["a default with unknown fields", { x: { type: "object", default: { a: 1 } } }],
  ["a default that breaks a rule of its schema", { x: { type: "string", default: "a", minLength: 2 } }],
  ["a default of null", { x: { type: "string", default: null } }],
  [
    "a default deep inside",
    { x: { type: "object", default: {}, properties: { y: { type: "integer", default: "z" } } } },
  ],
  ["an enum of another type", { x: { type: "string", enum: [1] } }],
  ["a minimum above its maximum", { x: { type: "integer", minimum: 2, maximum: 1 } }],
  ["a negative length", { x: { type: "string", minLength: -1 } }],
  ["metadata with labels", { metadata: { type: "object", properties: { labels: { type: "object" } } } }],
  [
    "metadata with a pattern for names",
    { metadata: { type: "object", properties: { name: { type: "string", pattern: "^a" } } } },
  ],
  ["a kind that is a number", { kind: { type: "integer" } }],
  ["a rule that does not parse", { x: { type: "string", "x-kubernetes-validations": [{ rule: "self ==" }] } }],
  ["a rule that is no condition", { x: { type: "string", "x-kubernetes-validations": [{ rule: "1 + 1" }] } }],
  ["an empty rule", { x: { type: "string", "x-kubernetes-validations": [{ rule: "" }] } }],
  [
    "a rule with an unknown reason",
    { x: { type: "string", "x-kubernetes-validations": [{ rule: "true", reason: "Why" }] } },
  ],
  [
    "a rule with a message of two lines",
    { x: { type: "string", "x-kubernetes-validations": [{ rule: "true", message: "a\nb" }] } },
  ],
  [
    "a rule with a path to nowhere",
    { x: { type: "object", "x-kubernetes-validations": [{ rule: "true", fieldPath: ".y" }] } },
  ],
];

/** CRDs that are rejected, and the defaults of those that are not. */
export const definitions = subject("definitions", [
  post("a small one", dry, crd(group, "smalls", "Small", object)),
  post("a cluster-wide one", dry, {
    ...crd(group, "wides", "Wide", object),
    spec: { ...crd(group, "wides", "Wide", object).spec, scope: "Cluster" },
  }),
  post("without a group", dry, {
    ...crd(group, "a", "A", object),
    spec: { scope: "Namespaced", names: { plural: "as", kind: "A" }, versions: [] },
  }),
  post("with a name that does not fit", dry, {
    ...crd(group, "as", "A", object),
    metadata: { name: "other.bad.example.io" },
  }),
  post("without a schema", dry, {
    ...crd(group, "as", "A", object),
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "as", kind: "A" },
      versions: [{ name: "v1", served: true, storage: true }],
    },
  }),
  post("without a storage version", dry, crd(group, "as", "A", object, { storage: false })),
  post("with an unknown scope", dry, {
    ...crd(group, "as", "A", object),
    spec: { ...crd(group, "as", "A", object).spec, scope: "Galaxy" },
  }),
  post("with a root that is no object", dry, crd(group, "as", "A", { type: "string" })),
  post("with a property without a type", dry, crd(group, "as", "A", propertiesOf({ x: {} }))),
  post("with an array without items", dry, crd(group, "as", "A", propertiesOf({ x: { type: "array" } }))),
  post(
    "with a default that does not fit",
    dry,
    crd(group, "as", "A", propertiesOf({ x: { type: "integer", default: "y" } })),
  ),
  post(
    "with a map list without keys",
    dry,
    crd(
      group,
      "as",
      "A",
      propertiesOf({
        x: {
          type: "array",
          "x-kubernetes-list-type": "map",
          items: { type: "object", properties: { k: { type: "string" } } },
        },
      }),
    ),
  ),
  post(
    "with an unknown list type",
    dry,
    crd(
      group,
      "as",
      "A",
      propertiesOf({ x: { type: "array", "x-kubernetes-list-type": "heap", items: { type: "string" } } }),
    ),
  ),
  ...badProperties.map(([name, properties]) =>
    post(`with ${name}`, dry, crd(group, "as", "A", propertiesOf(properties))),
  ),
  post("with a root without a type", dry, crd(group, "as", "A", { properties: { x: text } })),
  post(
    "with additional properties at the root",
    dry,
    crd(group, "as", "A", { type: "object", additionalProperties: text }),
  ),
  post("with a root that keeps all", dry, crd(group, "as", "A", { type: "object", ...keeps })),
  post(
    "with an unknown field of a schema",
    dry,
    crd(group, "as", "A", propertiesOf({ x: { type: "string", colour: "red" } })),
  ),
  post(
    "with an unknown field, strict",
    `${dry}&fieldValidation=Strict`,
    crd(group, "as", "A", propertiesOf({ x: { type: "string", colour: "red" } })),
  ),
  post("with two versions", dry, versioned([{ name: "v1", storage: true }, { name: "v2" }])),
  post("with two versions of one name", dry, versioned([{ name: "v1", storage: true }, { name: "v1" }])),
  post(
    "with two storage versions",
    dry,
    versioned([
      { name: "v1", storage: true },
      { name: "v2", storage: true },
    ]),
  ),
  post(
    "with a second version that is bad",
    dry,
    versioned([
      { name: "v1", storage: true },
      { name: "v2", schema: { openAPIV3Schema: propertiesOf({ x: {} }) } },
    ]),
  ),
  post("with no version served", dry, versioned([{ name: "v1", storage: true, served: false }])),
  post(
    "with a deprecated version",
    dry,
    versioned([{ name: "v1", storage: true, deprecated: true, deprecationWarning: "old" }]),
  ),
  post("with a warning and no deprecation", dry, versioned([{ name: "v1", storage: true, deprecationWarning: "old" }])),
  post("with preserveUnknownFields", dry, named({}, { preserveUnknownFields: true })),
  post("with a webhook without a client", dry, named({}, { conversion: { strategy: "Webhook" } })),
  post("with an unknown conversion", dry, named({}, { conversion: { strategy: "Magic" } })),
  post("with upper case names", dry, named({ plural: "As" })),
  post("with a short name that is none", dry, named({ shortNames: ["a b"] })),
  post("with a category that is none", dry, named({ categories: ["a b"] })),
  post("with a list kind that is the kind", dry, named({ listKind: "A" })),
  post("with a group that is none", dry, {
    ...crd("bad_group", "as", "A", object),
    metadata: { name: "as.bad_group" },
  }),
  post("with a group of Kubernetes", dry, crd("x.k8s.io", "as", "A", object)),
  post(
    "with a column with a bad path",
    dry,
    crd(group, "as", "A", object, { additionalPrinterColumns: [{ name: "X", type: "string", jsonPath: "x[" }] }),
  ),
  post(
    "with a column with a bad format",
    dry,
    crd(group, "as", "A", object, {
      additionalPrinterColumns: [{ name: "X", type: "string", format: "poem", jsonPath: ".x" }],
    }),
  ),
  post(
    "with a column without a name",
    dry,
    crd(group, "as", "A", object, { additionalPrinterColumns: [{ type: "string", jsonPath: ".x" }] }),
  ),
  post(
    "with a scale with bad paths",
    dry,
    crd(group, "as", "A", object, {
      subresources: { scale: { specReplicasPath: "spec", statusReplicasPath: ".spec.x", labelSelectorPath: ".x" } },
    }),
  ),
  post("with a status that is there", dry, crd(group, "as", "A", object, { subresources: { status: {} } })),
  post(
    "with a selectable field",
    dry,
    crd(group, "as", "A", propertiesOf({ spec: propertiesOf({ a: text }) }), {
      selectableFields: [{ jsonPath: ".spec.a" }],
    }),
  ),
  post(
    "with a selectable field that is an object",
    dry,
    crd(group, "as", "A", propertiesOf({ spec: object }), { selectableFields: [{ jsonPath: ".spec" }] }),
  ),
  post(
    "with a selectable field that is not there",
    dry,
    crd(group, "as", "A", propertiesOf({ spec: object }), { selectableFields: [{ jsonPath: ".spec.b" }] }),
  ),
  post(
    "with a selectable field twice",
    dry,
    crd(group, "as", "A", propertiesOf({ a: text }), { selectableFields: [{ jsonPath: ".a" }, { jsonPath: ".a" }] }),
  ),
  post("with a bad version name", dry, crd(group, "as", "A", object, { name: "One" })),
  post("with a bad kind", dry, crd(group, "as", "a b", object)),
  post(
    "with a column without a path",
    dry,
    crd(group, "as", "A", object, { additionalPrinterColumns: [{ name: "X", type: "string" }] }),
  ),
  post(
    "with a column of an unknown type",
    dry,
    crd(group, "as", "A", object, { additionalPrinterColumns: [{ name: "X", type: "poem", jsonPath: ".x" }] }),
  ),
  post("with a scale without paths", dry, crd(group, "as", "A", object, { subresources: { scale: {} } })),
]);
