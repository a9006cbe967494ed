import { arrayAt, at, field, type Json, type JsonObject, objectAt, stringAt, withField } from "../json/json.ts";
import type { SchemaPipeline } from "../resources/resource-definition.ts";
import type { Cause } from "../errors/status-error.ts";
import { invalidValue } from "../errors/field-errors.ts";
import {
  approvalProblems,
  conversionProblems,
  groupProblems,
  nameProblems,
  servedNameProblems,
} from "./validation/names.ts";
import { storedVersionProblems, versionProblems } from "./validation/version-problems.ts";

/** The finalizer that keeps a CRD until its objects are deleted. */
export const crdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** CustomResourceDefinitions: defaults for names and conversion, and the validation of Kubernetes. */
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
  validate: (crd) => [
    ...nameProblems(crd),
    ...approvalProblems(crd),
    ...groupProblems(crd),
    ...versionProblems(crd),
    ...servedNameProblems(crd),
    ...conversionProblems(crd),
    ...pruningProblems(crd),
    ...storedVersionProblems(crd),
  ],
};

function pruningProblems(crd: JsonObject): readonly Cause[] {
  if (at(crd, "spec", "preserveUnknownFields") !== true) return [];
  const why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalidValue("spec.preserveUnknownFields", true, why)];
}

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
