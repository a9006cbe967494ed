import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectFrom } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";

const copied = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "uniqueItems",
  "required",
  "format",
] as const;

/** Translates a structural schema (OpenAPI v3 with Kubernetes' extensions) into the JSON Schema that ajv runs. */
export function toAjvSchema(schema: Schema): JsonObject {
  const result: Record<string, Json> = {};
  const isNullable = field(schema, "nullable") === true;
  const type = field(schema, "type");
  if (field(schema, "x-kubernetes-int-or-string") === true) {
    result["type"] = isNullable ? ["integer", "string", "null"] : ["integer", "string"];
  } else if (typeof type === "string") result["type"] = isNullable ? [type, "null"] : type;
  for (const key of copied) {
    const value = field(schema, key);
    if (value !== undefined) result[key] = value;
  }
  translateExclusive(schema, result, "minimum", "exclusiveMinimum");
  translateExclusive(schema, result, "maximum", "exclusiveMaximum");
  const allowed = field(schema, "enum");
  if (isArray(allowed)) result["enum"] = isNullable && !allowed.includes(null) ? [...allowed, null] : allowed;
  const properties = entriesOf(field(schema, "properties"));
  if (properties.length > 0) {
    result["properties"] = objectFrom(
      properties.map(([key, child]) => [key, isObject(child) ? toAjvSchema(child) : {}]),
    );
  }
  for (const key of ["items", "additionalProperties", "not"]) {
    const child = field(schema, key);
    if (isObject(child)) result[key] = toAjvSchema(child);
  }
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    const children = field(schema, key);
    if (isArray(children)) result[key] = children.map((child) => (isObject(child) ? toAjvSchema(child) : {}));
  }
  return result;
}

/** OpenAPI has `exclusiveMinimum: true` beside a minimum; JSON Schema has the number itself. */
function translateExclusive(schema: Schema, result: Record<string, Json>, bound: string, exclusive: string): void {
  const limit = field(schema, bound);
  const flag = field(schema, exclusive);
  if (typeof flag !== "boolean") return;
  delete result[exclusive];
  if (!flag || limit === undefined) return;
  delete result[bound];
  result[exclusive] = limit;
}
