import { type JsonObject, post, subject } from "../request-script.ts";
import { crd, crds } from "./sample-objects.ts";

const object = { type: "object" };
const dry = `${crds}?dryRun=All`;
const group = "bad.example.io";
const propertiesOf = (properties: JsonObject): JsonObject => ({ type: "object", properties });

/** Definitions of custom resources that are refused, and what is filled into those that are not. */
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
