import {
  arrayAt,
  at,
  field,
  isObject,
  type Json,
  jsonEqual,
  type JsonObject,
  stringAt,
  entriesOf,
} from "../../json/json.ts";
import type { Cause } from "../../errors/status-error.ts";
import { ruleProblems } from "../rules/rule-tree.ts";
import { invalidValue, required } from "../../errors/field-errors.ts";
import { shownVersions } from "./names.ts";
import { label1035Errors } from "../../objects/names.ts";
import { schemaProblems } from "./schema-problems.ts";
import { columnProblems, selectableProblems, subresourceProblems } from "./served-parts.ts";
import { quoted } from "../../json/quoting.ts";
import type { Schema } from "../../schema/schema.ts";
import { dropUnknown } from "../../schema/prune.ts";
import { schemaChecks } from "../custom-objects/structural-pipeline.ts";

/** Validates the versions of a CRD. */
export function versionProblems(crd: JsonObject): readonly Cause[] {
  const versions = arrayAt(crd, "spec", "versions");
  const causes = versions.flatMap((version, index) => ownProblems(version, `spec.versions[${index}]`));
  return [...causes, ...togetherProblems(crd, versions), ...firstNameProblems(versions), ...sharedProblems(versions)];
}

function ownProblems(version: Json, path: string): readonly Cause[] {
  const name = stringAt(version, "name") ?? "";
  const causes: Cause[] =
    name === ""
      ? [required(`${path}.name`)]
      : label1035Errors(name).map((why) => invalidValue(`${path}.name`, name, why));
  if (!isObject(at(version, "schema", "openAPIV3Schema"))) causes.push(required(`${path}.schema.openAPIV3Schema`));
  const warning = stringAt(version, "deprecationWarning");
  if (warning !== undefined && field(version, "deprecated") !== true) {
    causes.push(invalidValue(`${path}.deprecationWarning`, warning, "can only be set for deprecated versions"));
  }
  return causes;
}

function togetherProblems(crd: JsonObject, versions: readonly Json[]): readonly Cause[] {
  const names = versions.map((version) => stringAt(version, "name") ?? "");
  const all = (why: string): Cause => ({
    reason: "FieldValueInvalid",
    message: `Invalid value: ${shownVersions(crd)}: ${why}`,
    field: "spec.versions",
  });
  const stored = versions.filter((version) => field(version, "storage") === true);
  return [
    ...(new Set(names).size === names.length ? [] : [all("must contain unique version names")]),
    ...(stored.length === 1 ? [] : [all("must have exactly one version marked as storage version")]),
  ];
}

/** The first version is also the `spec.version` of old clients, and reported under that name. */
function firstNameProblems([first]: readonly Json[]): readonly Cause[] {
  const name = stringAt(first, "name") ?? "";
  return name === "" ? [] : label1035Errors(name).map((why) => invalidValue("spec.version", name, why));
}

/**
 * Errors of values that are equal in all versions have a path without a version, like in kube-apiserver's internal form of a
 * CRD.
 */
function placesOf(versions: readonly Json[], part: string, together: string): readonly (readonly [Json, string])[] {
  const [first, ...rest] = versions;
  if (first === undefined) return [];
  if (rest.every((version) => jsonEqual(field(version, part), field(first, part))))
    return [[first, `spec.${together}`]];
  const name = part === "schema" ? "schema" : together;
  return versions.map((version, index) => [version, `spec.versions[${index}].${name}`]);
}

function sharedProblems(versions: readonly Json[]): readonly Cause[] {
  if (versions.some((version) => !isObject(at(version, "schema", "openAPIV3Schema")))) return [];
  return [
    ...placesOf(versions, "schema", "validation").flatMap(([version, path]) => {
      const schema = at(version, "schema", "openAPIV3Schema");
      if (!isObject(schema)) return [];
      const place = `${path}.openAPIV3Schema`;
      const structure = schemaProblems(schema, place);
      return structure.length > 0 ? structure : [...ruleProblems(schema, place), ...defaultProblems(schema, place)];
    }),
    ...placesOf(versions, "subresources", "subresources").flatMap(([version, path]) =>
      subresourceProblems(version, path),
    ),
    ...placesOf(versions, "additionalPrinterColumns", "additionalPrinterColumns").flatMap(([version, path]) =>
      columnProblems(version, path),
    ),
    ...placesOf(versions, "selectableFields", "selectableFields").flatMap(([version, path]) =>
      selectableProblems(version, path),
    ),
  ];
}

/** The versions that `status.storedVersions` lacks, in the form of the same error. */
export function storedVersionProblems(crd: JsonObject): readonly Cause[] {
  const versions = arrayAt(crd, "spec", "versions");
  const stored = versions.filter((version) => field(version, "storage") === true);
  const names = stored.map((version) => stringAt(version, "name") ?? "");
  const path = "status.storedVersions";
  if (names.length === 0) return [invalidValue(path, undefined, "must have at least one stored version")];
  // The last one counts as the storage version; a new CRD records the first one.
  const last = names.at(-1);
  return last === names[0] ? [] : [invalidValue(path, [names[0] ?? ""], `must have the storage version ${last}`)];
}

/** Validates defaults by their own schema. */
function defaultProblems(schema: Schema, path: string): readonly Cause[] {
  const fallback = field(schema, "default");
  const own = fallback === undefined || fallback === null ? [] : problemsOfDefault(fallback, schema, `${path}.default`);
  const below = (key: string): readonly Cause[] => {
    const child = field(schema, key);
    return isObject(child) ? defaultProblems(child, `${path}.${key}`) : [];
  };
  const inProperties = entriesOf(field(schema, "properties")).flatMap(([key, child]) =>
    isObject(child) ? defaultProblems(child, `${path}.properties[${key}]`) : [],
  );
  return [...own, ...inProperties, ...below("additionalProperties"), ...below("items")];
}

function problemsOfDefault(fallback: Json, schema: Schema, path: string): readonly Cause[] {
  const { unknown } = dropUnknown({ value: fallback }, { type: "object", properties: { value: schema } });
  if (unknown.length > 0) return [invalidValue(path, fallback, "must not have unknown fields")];
  return schemaChecks(schema, fallback).map((cause) => ({
    ...cause,
    field: cause.field === undefined || cause.field === "<nil>" ? path : `${path}.${cause.field}`,
    message: cause.reason === "FieldValueRequired" ? `Required value` : cause.message.replace(quoted(""), quoted("")),
  }));
}
