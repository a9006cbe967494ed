import { arrayAt, entriesOf, field, isArray, isObject, type Json, stringAt } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";
import type { Cause } from "../../errors/status-error.ts";
import { goPattern } from "../formats/go-pattern.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/field-errors.ts";
import { listProblems } from "./list-problems.ts";

/** The place of a schema; the root has rules of its own. */
type Place = "root" | "property" | "items";

const types = ["array", "boolean", "integer", "number", "object", "string"];
/** Keywords of JSON Schema that Kubernetes does not support. */
const unsupportedKeywords = [
  "definitions",
  "dependencies",
  "id",
  "patternProperties",
  "additionalItems",
  "$schema",
  "$ref",
];

/**
 * Validates that a schema is structural, and what else Kubernetes requires of schemas of custom resources. Source: Kubernetes
 * documentation, "Specifying a structural schema".
 */
export function schemaProblems(schema: Schema, path: string): readonly Cause[] {
  const keywords = keywordProblems(schema, path);
  // An unreadable schema gets no further errors.
  return keywords.length > 0 ? keywords : structuralProblems(schema, path, "root");
}

/** The subschemas that describe other values, each with its path. */
function partsOf(schema: Schema, path: string): readonly (readonly [Schema, string, Place])[] {
  const parts: [Schema, string, Place][] = [];
  const items = field(schema, "items");
  if (isObject(items)) parts.push([items, `${path}.items`, "items"]);
  const additional = field(schema, "additionalProperties");
  if (isObject(additional)) parts.push([additional, `${path}.additionalProperties`, "property"]);
  for (const [key, child] of entriesOf(field(schema, "properties")).toSorted(byKey)) {
    if (isObject(child)) parts.push([child, `${path}.properties[${key}]`, "property"]);
  }
  return parts;
}

function byKey([a]: readonly [string, Json], [b]: readonly [string, Json]): number {
  return a < b ? -1 : 1;
}

/** The schemas of a union, each with its path. */
function unionOf(schema: Schema, path: string): readonly (readonly [Schema, string])[] {
  const not = field(schema, "not");
  return [
    ...["allOf", "anyOf", "oneOf"].flatMap((key) =>
      arrayAt(schema, key).flatMap((child, index): (readonly [Schema, string])[] =>
        isObject(child) ? [[child, `${path}.${key}[${index}]`]] : [],
      ),
    ),
    ...(isObject(not) ? [[not, `${path}.not`] as const] : []),
  ];
}

function keywordProblems(schema: Schema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (field(schema, "uniqueItems") === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    causes.push(forbiddenField(`${path}.uniqueItems`, why));
  }
  const type = stringAt(schema, "type");
  if (type !== undefined && !types.includes(type)) causes.push(notSupported(`${path}.type`, type, types));
  if (type === "null") {
    const why = "type cannot be set to null, use nullable as an alternative";
    causes.push(forbiddenField(`${path}.type`, why));
  }
  const hasProperties = entriesOf(field(schema, "properties")).length > 0;
  const additional = field(schema, "additionalProperties");
  if (hasProperties && additional !== undefined && additional !== false) {
    const why = "additionalProperties and properties are mutual exclusive";
    causes.push(forbiddenField(`${path}.additionalProperties`, why));
  }
  for (const key of unsupportedKeywords) {
    if (field(schema, key) !== undefined) causes.push(forbiddenField(`${path}.${key}`, `${key} is not supported`));
  }
  if (isArray(field(schema, "items"))) {
    causes.push(forbiddenField(`${path}.items`, "items must be a schema object and not an array"));
  }
  const pattern = stringAt(schema, "pattern");
  const read = pattern === undefined ? undefined : goPattern(pattern);
  if (pattern !== undefined && read !== undefined && "error" in read) {
    causes.push(
      invalidValue(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${read.error}`),
    );
  }
  causes.push(...listProblems(schema, path));
  const children = [...partsOf(schema, path), ...unionOf(schema, path)];
  return [...causes, ...children.flatMap(([child, childPath]) => keywordProblems(child, childPath))];
}

const missingType: Readonly<Record<Place, string>> = {
  root: "must not be empty at the root",
  items: "must not be empty for specified array items",
  property: "must not be empty for specified object fields",
};

function structuralProblems(schema: Schema, path: string, place: Place): readonly Cause[] {
  const causes: Cause[] = [];
  const has = (extension: string): boolean => field(schema, `x-kubernetes-${extension}`) === true;
  const type = stringAt(schema, "type") ?? "";
  if (type === "array" && field(schema, "items") === undefined) {
    causes.push(required(`${path}.items`, "must be specified"));
  }
  for (const [child, childPath, childPlace] of partsOf(schema, path)) {
    causes.push(...structuralProblems(child, childPath, childPlace));
  }
  const additional = field(schema, "additionalProperties");
  if (place === "root" && additional !== undefined) {
    causes.push(forbiddenField(`${path}.additionalProperties`, "must not be used at the root"));
  }
  if (has("int-or-string")) {
    const why = "must be false if x-kubernetes-int-or-string is true";
    for (const key of ["preserve-unknown-fields", "embedded-resource"]) {
      if (has(key)) causes.push(invalidValue(`${path}.x-kubernetes-${key}`, true, why));
    }
  }
  causes.push(...unionProblems(schema, path));
  if (has("embedded-resource")) {
    const why = "must be object if x-kubernetes-embedded-resource is true";
    if (type === "") causes.push(required(`${path}.type`, why));
    else if (type !== "object") causes.push(invalidValue(`${path}.type`, type, why));
    if (additional !== undefined) {
      const used = "must not be used if x-kubernetes-embedded-resource is set";
      causes.push(forbiddenField(`${path}.additionalProperties`, used));
    }
    if (!has("preserve-unknown-fields") && entriesOf(field(schema, "properties")).length === 0) {
      const empty =
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
      causes.push(required(`${path}.properties`, empty));
    }
  } else if (type === "" && !has("int-or-string") && !has("preserve-unknown-fields")) {
    causes.push(required(`${path}.type`, missingType[place]));
  }
  if (place === "root" && type !== "" && type !== "object") {
    causes.push(invalidValue(`${path}.type`, type, "must be object at the root"));
  }
  if (place === "root" || has("embedded-resource")) causes.push(...identityProblems(schema, path));
  return causes.toSorted((a, b) => ((a.field ?? "") < (b.field ?? "") ? -1 : 1));
}

/** `kind`, `apiVersion` and `metadata` belong to Kubernetes: a schema may only restrict names. */
function identityProblems(schema: Schema, path: string): readonly Cause[] {
  const properties = field(schema, "properties");
  const causes: Cause[] = [];
  for (const key of ["kind", "apiVersion"]) {
    const own = field(properties, key);
    const type = stringAt(own, "type") ?? "";
    if (own !== undefined && type !== "string") {
      causes.push(invalidValue(`${path}.properties[${key}].type`, type, "must be string"));
    }
  }
  const metadata = field(properties, "metadata");
  if (metadata === undefined) return causes;
  const place = `${path}.properties[metadata]`;
  const type = stringAt(metadata, "type") ?? "";
  if (type !== "object") causes.push(invalidValue(`${place}.type`, type, "must be object"));
  const others = entriesOf(field(metadata, "properties")).filter(([key]) => key !== "name" && key !== "generateName");
  const allowed = new Set(["type", "properties", "description", "title"]);
  if (others.length > 0 || entriesOf(metadata).some(([key]) => !allowed.has(key))) {
    const why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    causes.push(forbiddenField(place, why));
  }
  return causes;
}

/** Fields that are forbidden inside `allOf`, `anyOf`, `oneOf` and `not`, which may only restrict the outer schema. */
const onlyOutside: readonly (readonly [string, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
];

function unionProblems(schema: Schema, path: string): readonly Cause[] {
  const isEither = field(schema, "x-kubernetes-int-or-string") === true;
  return unionOf(schema, path).flatMap(([child, childPath]) =>
    isEither && isIntOrString(schema, childPath) ? [] : nestedProblems(child, childPath),
  );
}

/**
 * `anyOf: [{ type: integer }, { type: string }]`, in place or as the first of `allOf`, is the only union that may have types.
 */
function isIntOrString(schema: Schema, childPath: string): boolean {
  const holder = childPath.endsWith(".allOf[0]") ? arrayAt(schema, "allOf")[0] : schema;
  if (!/\.(?:anyOf\[[01]\]|allOf\[0\])$/.test(childPath)) return false;
  return JSON.stringify(field(holder, "anyOf")) === '[{"type":"integer"},{"type":"string"}]';
}

function nestedProblems(schema: Schema, path: string): readonly Cause[] {
  const own = onlyOutside.flatMap(([key, why]) => {
    const value = field(schema, key);
    return value === undefined || value === false || value === "" ? [] : [forbiddenField(`${path}.${key}`, why)];
  });
  const metadata = field(field(schema, "properties"), "metadata");
  const inside = [...partsOf(schema, path), ...unionOf(schema, path)];
  return [
    ...own,
    ...(metadata === undefined
      ? []
      : [forbiddenField(`${path}.properties[metadata]`, "must not be specified in a nested context")]),
    ...inside.flatMap(([child, childPath]) => nestedProblems(child, childPath)),
  ];
}
