import { entriesOf, field, isArray, isObject, type Json, stringAt } from "../../json/json.ts";
import { itemSchema, propertySchema, type Schema } from "../../schema/schema.ts";
import type { Cause } from "../../errors/status-error.ts";

/** Validates the embedded objects that `x-kubernetes-embedded-resource` marks. */
export function embeddedProblems(value: Json | undefined, schema: Schema | undefined, path = ""): readonly Cause[] {
  if (schema === undefined || value === undefined) return [];
  if (isArray(value)) {
    const items = itemSchema(schema);
    return items === undefined
      ? []
      : value.flatMap((item, index) => embeddedProblems(item, items, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  const inside = entriesOf(value).flatMap(([key, child]) =>
    embeddedProblems(child, propertySchema(schema, key), path === "" ? key : `${path}.${key}`),
  );
  if (path === "" || field(schema, "x-kubernetes-embedded-resource") !== true) return inside;
  const missing = ["apiVersion", "kind"].flatMap((key): Cause[] =>
    stringAt(value, key)
      ? []
      : [{ reason: "FieldValueRequired", message: "Required value: must not be empty", field: `${path}.${key}` }],
  );
  const metadata = field(value, "metadata");
  const isWrong = metadata !== undefined && !isObject(metadata);
  const wrong = isWrong
    ? [{ reason: "FieldValueInvalid", message: "Invalid value: must be an object", field: `${path}.metadata` }]
    : [];
  return [...missing, ...wrong, ...inside];
}
