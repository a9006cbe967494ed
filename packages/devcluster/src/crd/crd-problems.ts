import { label1035Errors, nameErrors } from "../objects/names.ts";
import { arrayAt, at, field, isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";
import type { Cause } from "../errors/status-error.ts";
import { invalidValue, notSupported, required } from "../errors/field-errors.ts";
import { schemaProblems } from "./schema-problems.ts";

/**
 * Validates what serving a CRD relies on: its names, its versions and the expressions in its schemas. That a schema is structural,
 * as Kubernetes requires, is left to a real cluster.
 */
export function crdProblems(crd: JsonObject): readonly Cause[] {
  return [...nameProblems(crd), ...groupProblems(crd), ...servedNameProblems(crd), ...versionProblems(crd)];
}

function nameProblems(crd: JsonObject): readonly Cause[] {
  const group = stringAt(crd, "spec", "group") ?? "";
  const plural = stringAt(crd, "spec", "names", "plural") ?? "";
  const name = stringAt(crd, "metadata", "name") ?? "";
  return name === `${plural}.${group}`
    ? []
    : [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function groupProblems(crd: JsonObject): readonly Cause[] {
  const group = stringAt(crd, "spec", "group") ?? "";
  const scope = stringAt(crd, "spec", "scope") ?? "";
  const scopes = ["Cluster", "Namespaced"];
  return [
    ...(group === "" ? [required("spec.group")] : []),
    ...(group === "" ? [] : nameErrors(group, "subdomain").map((why) => invalidValue("spec.group", group, why))),
    ...(scope === "" ? [required("spec.scope")] : []),
    ...(scope === "" || scopes.includes(scope) ? [] : [notSupported("spec.scope", scope, scopes)]),
  ];
}

function servedNameProblems(crd: JsonObject): readonly Cause[] {
  const names = at(crd, "spec", "names");
  return ["plural", "singular", "kind", "listKind"].flatMap((key) => {
    const value = stringAt(names, key) ?? "";
    const place = `spec.names.${key}`;
    if (value === "") return [required(place)];
    const isKind = key === "kind" || key === "listKind";
    return label1035Errors(isKind ? value.toLowerCase() : value).map((why) =>
      invalidValue(place, value, isKind ? `may have mixed case, but should otherwise match: ${why}` : why),
    );
  });
}

function versionProblems(crd: JsonObject): readonly Cause[] {
  const versions = arrayAt(crd, "spec", "versions");
  const names = versions.map((version) => stringAt(version, "name") ?? "");
  const all = (why: string): Cause => invalidValue("spec.versions", names, why);
  const stored = versions.filter((version) => field(version, "storage") === true);
  return [
    ...versions.flatMap((version, index) => ownProblems(version, `spec.versions[${index}]`)),
    ...(new Set(names).size === names.length ? [] : [all("must contain unique version names")]),
    ...(stored.length === 1 ? [] : [all("must have exactly one version marked as storage version")]),
  ];
}

function ownProblems(version: Json, path: string): readonly Cause[] {
  const name = stringAt(version, "name") ?? "";
  const schema = at(version, "schema", "openAPIV3Schema");
  const place = `${path}.schema.openAPIV3Schema`;
  return [
    ...(name === "" ? [required(`${path}.name`)] : []),
    ...(name === "" ? [] : label1035Errors(name).map((why) => invalidValue(`${path}.name`, name, why))),
    ...(isObject(schema) ? schemaProblems(schema, place) : [required(place)]),
  ];
}
