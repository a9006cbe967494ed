import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectFrom } from "../json.ts";
import { itemSchema, propertySchema, type Schema } from "../kinds/schema.ts";

const resourceFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** An object without the fields that its structural schema does not know, and the paths of those fields. */
export interface Pruned {
  readonly object: JsonObject;
  readonly unknown: readonly string[];
}

/**
 * Drops unknown fields as kube-apiserver does for structural schemas: `x-kubernetes-preserve-unknown-fields` keeps them at
 * its level, `x-kubernetes-embedded-resource` keeps apiVersion, kind and metadata. Values that fit are shared, not copied.
 */
export function prune(object: JsonObject, schema: Schema): Pruned {
  const unknown: string[] = [];
  const pruned = pruneObject(object, { ...schema, "x-kubernetes-embedded-resource": true }, "", unknown);
  return { object: pruned, unknown };
}

function pruneValue(value: Json, schema: Schema | undefined, path: string, unknown: string[]): Json {
  if (isArray(value)) {
    const items = itemSchema(schema);
    if (items === undefined) return value;
    const next = value.map((item, index) => pruneValue(item, items, `${path}[${index}]`, unknown));
    return next.some((item, index) => item !== value[index]) ? next : value;
  }
  return isObject(value) && schema !== undefined ? pruneObject(value, schema, path, unknown) : value;
}

function pruneObject(object: JsonObject, schema: Schema, path: string, unknown: string[]): JsonObject {
  const keepsUnknown =
    field(schema, "x-kubernetes-preserve-unknown-fields") === true || field(schema, "additionalProperties") === true;
  const isResource = field(schema, "x-kubernetes-embedded-resource") === true;
  const kept: [string, Json][] = [];
  let hasChanged = false;
  for (const [key, value] of entriesOf(object)) {
    const own = propertySchema(schema, key);
    const childPath = path === "" ? key : `${path}.${key}`;
    if (isResource && resourceFields.has(key)) kept.push([key, value]);
    else if (own !== undefined) {
      const next = pruneValue(value, own, childPath, unknown);
      hasChanged ||= next !== value;
      kept.push([key, next]);
    } else if (keepsUnknown) kept.push([key, value]);
    else {
      hasChanged = true;
      unknown.push(childPath);
    }
  }
  return hasChanged ? objectFrom(kept) : object;
}
