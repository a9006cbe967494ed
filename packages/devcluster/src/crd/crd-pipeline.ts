import { arrayAt, at, field, type Json, type JsonObject, objectAt, stringAt, withField } from "../json/json.ts";
import type { SchemaPipeline } from "../resources/resource-definition.ts";
import { crdProblems } from "./crd-problems.ts";

/** The finalizer that keeps a CRD until its objects are deleted. */
export const crdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** CustomResourceDefinitions: defaults for names and conversion, and the validation. */
export const customResourceDefinitionPipeline: SchemaPipeline = {
  prepare(crd) {
    const kind = stringAt(crd, "spec", "names", "kind") ?? "";
    const names = {
      ...objectAt(crd, "spec", "names"),
      listKind: stringAt(crd, "spec", "names", "listKind") || `${kind}List`,
      singular: stringAt(crd, "spec", "names", "singular") || kind.toLowerCase(),
    };
    const named = withField(crd, ["spec", "names"], names);
    const converted =
      at(named, "spec", "conversion") === undefined
        ? withField(named, ["spec", "conversion"], { strategy: "None" })
        : named;
    return { object: withField(converted, ["status"], statusOf(converted)), unknown: [] };
  },
  validate: crdProblems,
};

/** The initial status of a CRD; a controller records that its names are accepted. */
function statusOf(crd: JsonObject): JsonObject {
  const storage = arrayAt(crd, "spec", "versions").find((version) => field(version, "storage") === true);
  const stored = new Set<Json>(arrayAt(crd, "status", "storedVersions"));
  const name = field(storage, "name");
  if (name !== undefined) stored.add(name);
  return {
    conditions: at(crd, "status", "conditions") ?? null,
    acceptedNames: { plural: "", kind: "", ...objectAt(crd, "status", "acceptedNames") },
    storedVersions: [...stored],
  };
}
