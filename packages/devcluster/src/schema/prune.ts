import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectFrom } from "../json/json.ts";
import { itemSchema, propertySchema, type Schema } from "./schema.ts";

const resourceFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** An object without the fields that its structural schema lacks, and the paths of those fields. */
export interface Pruned {
  readonly object: JsonObject;
  readonly unknown: readonly string[];
}

/**
 * Drops unknown fields like kube-apiserver for structural schemas: `x-kubernetes-preserve-unknown-fields` keeps them at its
 * level, `x-kubernetes-embedded-resource` keeps apiVersion, kind and metadata. Unchanged values are shared, not copied.
 */
export function prune(object: JsonObject, schema: Schema): Pruned {
  return dropUnknown(object, { ...schema, "x-kubernetes-embedded-resource": true });
}

/** The same for a value whose schema lists all of its fields. */
export function dropUnknown(object: JsonObject, schema: Schema): Pruned {
  const unknown: string[] = [];
  return { object: pruneObject(object, schema, "", unknown), unknown };
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
  const pathTo = (key: string): string => (path === "" ? key : `${path}.${key}`);
  /** The changed fields. Most objects have none and are not copied. */
  let changes: Map<string, Json | undefined> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined || (isResource && resourceFields.has(key))) continue;
    const own = propertySchema(schema, key);
    if (own !== undefined) {
      if (typeof value !== "object" || value === null) continue;
      const next = pruneValue(value, own, pathTo(key), unknown);
      if (next !== value) (changes ??= new Map()).set(key, next);
    } else if (!keepsUnknown) {
      (changes ??= new Map()).set(key, undefined);
      unknown.push(pathTo(key));
    }
  }
  if (changes === undefined) return object;
  const changed = changes;
  return objectFrom(
    entriesOf(object).flatMap(([key, value]): [string, Json][] => {
      if (!changed.has(key)) return [[key, value]];
      const next = changed.get(key);
      return next === undefined ? [] : [[key, next]];
    }),
  );
}
