import { entriesOf, field, isArray, isObject, type Json } from "../../json/json.ts";
import { itemSchema, listMapKeysOf, listTypeOf, propertySchema, type Schema } from "../../schema/schema.ts";
import { quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";

/** The duplicate items of `set` and `map` lists. */
export function duplicateItems(value: Json | undefined, schema: Schema | undefined, path = ""): readonly Cause[] {
  if (schema === undefined || value === undefined) return [];
  if (isObject(value)) {
    return entriesOf(value).flatMap(([key, child]) =>
      duplicateItems(child, propertySchema(schema, key), path === "" ? key : `${path}.${key}`),
    );
  }
  if (!isArray(value)) return [];
  const items = itemSchema(schema);
  const inside = value.flatMap((item, index) => duplicateItems(item, items, `${path}[${index}]`));
  const type = listTypeOf(schema);
  if (type === "atomic") return inside;
  const seen = new Set<string>();
  const causes: Cause[] = [...inside];
  for (const [index, item] of value.entries()) {
    const identity =
      type === "set" ? item : Object.fromEntries(listMapKeysOf(schema).map((key) => [key, field(item, key)]));
    const text = JSON.stringify(identity);
    if (seen.has(text)) {
      const message = `Duplicate value: ${type === "set" ? quoted(item) : text}`;
      causes.push({ reason: "FieldValueDuplicate", message, field: `${path}[${index}]` });
    }
    seen.add(text);
  }
  return causes;
}
