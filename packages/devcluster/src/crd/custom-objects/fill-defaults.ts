import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectFrom } from "../../json/json.ts";
import { itemSchema, propertySchema, type Schema } from "../../schema/schema.ts";

/**
 * Applies the defaults of a structural schema. A null counts as missing where the schema is not nullable. Complete values are
 * shared, not copied.
 */
export function fillDefaults(object: JsonObject, schema: Schema): JsonObject {
  const filled = new Map<string, Json>();
  let hasChanged = false;
  for (const [key, value] of entriesOf(object)) {
    const own = propertySchema(schema, key);
    const fallback = own === undefined ? undefined : field(own, "default");
    const isRejected = value === null && own !== undefined && !allowsNull(own);
    if (isRejected && fallback === undefined) {
      hasChanged = true;
      continue;
    }
    const next = fillValue(isRejected ? (fallback ?? null) : value, own);
    hasChanged ||= next !== value;
    filled.set(key, next);
  }
  for (const [key, own] of entriesOf(field(schema, "properties"))) {
    const fallback = field(own, "default");
    if (filled.has(key) || fallback === undefined || !isObject(own)) continue;
    hasChanged = true;
    filled.set(key, fillValue(fallback, own));
  }
  return hasChanged ? objectFrom(filled) : object;
}

/** Whether null is a valid value: where the schema is nullable or has no type. */
function allowsNull(schema: Schema): boolean {
  return field(schema, "nullable") === true || field(schema, "type") === undefined;
}

function fillValue(value: Json, schema: Schema | undefined): Json {
  if (schema === undefined) return value;
  if (isObject(value)) return fillDefaults(value, schema);
  if (!isArray(value)) return value;
  const items = itemSchema(schema);
  if (items === undefined) return value;
  const next = value.map((item) => fillValue(item, items));
  return next.some((item, index) => item !== value[index]) ? next : value;
}
