import { type JsonObject, post, subject } from "../request-script.ts";
import { crd, crds } from "./sample-objects.ts";

const object = { type: "object" };
const dry = `${crds}?dryRun=All`;
const group = "bad.example.io";
const text = { type: "string" };
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

/** CRDs whose names and versions are rejected, and the defaults of those that are not. Ours does not validate schemas. */
export const definitions = subject("definitions", [
  post("a small one", dry, crd(group, "smalls", "Small", object)),
  post("a cluster-wide one", dry, {
    ...crd(group, "wides", "Wide", object),
    spec: { ...crd(group, "wides", "Wide", object).spec, scope: "Cluster" },
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
  post("with an unknown scope", dry, {
    ...crd(group, "as", "A", object),
    spec: { ...crd(group, "as", "A", object).spec, scope: "Galaxy" },
  }),
  post(
    "with an unknown field of a schema",
    dry,
    crd(group, "as", "A", propertiesOf({ x: { type: "string", color: "red" } })),
  ),
  post(
    "with an unknown field, strict",
    `${dry}&fieldValidation=Strict`,
    crd(group, "as", "A", propertiesOf({ x: { type: "string", color: "red" } })),
  ),
  post("with two versions", dry, versioned([{ name: "v1", storage: true }, { name: "v2" }])),
  post("with no version served", dry, versioned([{ name: "v1", storage: true, served: false }])),
  post(
    "with a deprecated version",
    dry,
    versioned([{ name: "v1", storage: true, deprecated: true, deprecationWarning: "old" }]),
  ),
  post("with upper case names", dry, named({ plural: "As" })),
  post("with a group that is none", dry, {
    ...crd("bad_group", "as", "A", object),
    metadata: { name: "as.bad_group" },
  }),
  post("with a status that is there", dry, crd(group, "as", "A", object, { subresources: { status: {} } })),
  post(
    "with a selectable field",
    dry,
    crd(group, "as", "A", propertiesOf({ spec: propertiesOf({ a: text }) }), {
      selectableFields: [{ jsonPath: ".spec.a" }],
    }),
  ),
  post("with a bad kind", dry, crd(group, "as", "a b", object)),
  post(
    "with a rule that does not parse",
    dry,
    crd(group, "as", "A", propertiesOf({ x: { ...text, "x-kubernetes-validations": [{ rule: "self ==" }] } })),
  ),
]);
