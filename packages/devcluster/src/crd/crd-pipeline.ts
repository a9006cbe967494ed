import { arrayAt, at, field, isObject, type Json, type JsonObject, objectAt, stringAt, withField } from "../json.ts";
import type { SchemaPipeline } from "../kinds/resource-definition.ts";
import { quoted } from "../quoting.ts";
import type { Cause } from "../status.ts";
import { ruleProblems } from "./rules/rule-tree.ts";

/** Holds a CRD until its objects are gone. */
export const crdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/**
 * CustomResourceDefinitions: names are completed, and the status says at once that they are accepted and established,
 * since this server serves them from the moment they are stored.
 */
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
    const finalizers = arrayAt(converted, "metadata", "finalizers");
    const isNew = at(converted, "status", "conditions") === undefined;
    const held =
      isNew && !finalizers.includes(crdCleanupFinalizer)
        ? withField(converted, ["metadata", "finalizers"], [...finalizers, crdCleanupFinalizer])
        : converted;
    return { object: withField(held, ["status"], statusOf(held, names)), unknown: [] };
  },
  validate: (crd) => [...nameProblems(crd), ...versionProblems(arrayAt(crd, "spec", "versions"))],
};

function statusOf(crd: JsonObject, acceptedNames: JsonObject): JsonObject {
  const since = stringAt(crd, "metadata", "creationTimestamp") ?? "";
  const present = arrayAt(crd, "status", "conditions");
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    reason,
    message,
    lastTransitionTime: since,
  });
  const storage = arrayAt(crd, "spec", "versions").find((version) => field(version, "storage") === true);
  const stored = new Set<Json>(arrayAt(crd, "status", "storedVersions"));
  const name = field(storage, "name");
  if (name !== undefined) stored.add(name);
  return {
    acceptedNames,
    conditions:
      present.length > 0
        ? present
        : [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
          ],
    storedVersions: [...stored],
  };
}

function nameProblems(crd: JsonObject): readonly Cause[] {
  const causes: Cause[] = [];
  const group = stringAt(crd, "spec", "group");
  const plural = stringAt(crd, "spec", "names", "plural");
  const scope = stringAt(crd, "spec", "scope");
  if (!group) causes.push(required("spec.group"));
  if (!plural) causes.push(required("spec.names.plural"));
  if (!stringAt(crd, "spec", "names", "kind")) causes.push(required("spec.names.kind"));
  if (!scope) causes.push(required("spec.scope"));
  else if (scope !== "Namespaced" && scope !== "Cluster") {
    const message = `Unsupported value: ${quoted(scope)}: supported values: "Cluster", "Namespaced"`;
    causes.push({ reason: "FieldValueNotSupported", message, field: "spec.scope" });
  }
  const name = stringAt(crd, "metadata", "name") ?? "";
  if (group && plural && name !== `${plural}.${group}`) {
    const message = `Invalid value: ${quoted(name)}: must be spec.names.plural+"."+spec.group`;
    causes.push({ reason: "FieldValueInvalid", message, field: "metadata.name" });
  }
  return causes;
}

function versionProblems(versions: readonly Json[]): readonly Cause[] {
  if (versions.length === 0) return [required("spec.versions")];
  const causes = versions.flatMap((version, index): readonly Cause[] => {
    const path = `spec.versions[${index}]`;
    const schema = at(version, "schema", "openAPIV3Schema");
    if (!stringAt(version, "name")) return [required(`${path}.name`)];
    if (!isObject(schema)) return [required(`${path}.schema.openAPIV3Schema`)];
    if (field(schema, "type") === "object") return ruleProblems(schema, `${path}.schema.openAPIV3Schema`);
    const message = `Invalid value: ${quoted(field(schema, "type") ?? "")}: must be object at the root`;
    return [{ reason: "FieldValueInvalid", message, field: `${path}.schema.openAPIV3Schema.type` }];
  });
  const stored = versions.filter((version) => field(version, "storage") === true);
  if (stored.length === 1) return causes;
  const message = `Invalid value: ${quoted(versions.map((version) => field(version, "name") ?? null))}: must have exactly one version marked as storage version`;
  return [...causes, { reason: "FieldValueInvalid", message, field: "spec.versions" }];
}

function required(path: string): Cause {
  return { reason: "FieldValueRequired", message: "Required value", field: path };
}
