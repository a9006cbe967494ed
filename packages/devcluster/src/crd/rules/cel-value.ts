import { entriesOf, field, isArray, isObject, type Json } from "../../json/json.ts";
import { itemSchema, propertySchema, type Schema } from "../../schema/schema.ts";

/** A value in an expression: integers are bigint, as CEL wants them, and times are dates. */
export type CelValue = null | boolean | number | bigint | string | Date | readonly CelValue[] | CelObject;

interface CelObject {
  readonly [key: string]: CelValue;
}

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/**
 * Converts a JSON value for an expression, by its schema. Field names that CEL cannot spell are escaped as in Kubernetes.
 */
export function celValueOf(value: Json, schema: Schema | undefined): CelValue {
  if (isArray(value)) {
    const items = itemSchema(schema);
    return value.map((item) => celValueOf(item, items));
  }
  if (isObject(value)) {
    const named = field(schema, "properties");
    const pairs = entriesOf(value).map(([key, child]): [string, CelValue] => [
      field(named, key) === undefined ? key : escapedName(key),
      celValueOf(child, propertySchema(schema, key)),
    ]);
    return Object.fromEntries(pairs);
  }
  if (typeof value === "number") {
    const isDouble = field(schema, "type") === "number";
    return Number.isInteger(value) && !isDouble ? BigInt(value) : value;
  }
  if (typeof value === "string" && field(schema, "format") === "date-time") {
    const time = new Date(value);
    return Number.isNaN(time.getTime()) ? value : time;
  }
  return value;
}

/** A field name as rules spell it. Source: Kubernetes documentation, "Validation rules", escaping of property names. */
function escapedName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}
