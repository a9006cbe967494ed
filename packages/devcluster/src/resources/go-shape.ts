import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectAt, objectFrom } from "../json/json.ts";
import { plainText } from "../json/quoting.ts";
import { badRequest } from "../errors/status-error.ts";
import { canonicalQuantity, quantityRule } from "../objects/quantity.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { itemSchema, propertySchema, type Schema } from "../schema/schema.ts";

/**
 * A built-in object as Go writes it after decoding: no nulls, no empty maps, lists or strings in metadata (those fields are
 * `omitempty`), quantities in canonical form. Throws 400 for an invalid quantity.
 */
export function goShape(definition: ResourceDefinition, object: JsonObject): JsonObject {
  const fail = (why: string): never => {
    const { kind, version } = definition;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
  };
  const shaped = shapeOf(object, definition.schema, fail);
  if (!isObject(shaped)) return {};
  const metadata = objectFrom(entriesOf(objectAt(shaped, "metadata")).filter(([, value]) => value !== ""));
  return { ...shaped, metadata };
}

function shapeOf(value: Json, schema: Schema | undefined, fail: (why: string) => never): Json | undefined {
  if (value === null) return undefined;
  if (schema === undefined || field(schema, "x-kubernetes-preserve-unknown-fields") === true) return value;
  if (field(schema, "format") === "quantity") {
    return canonicalQuantity(plainText(value)) ?? fail(quantityRule);
  }
  if (isArray(value)) {
    if (value.length === 0) return undefined;
    const items = itemSchema(schema);
    return value.map((item) => shapeOf(item, items, fail) ?? null);
  }
  if (!isObject(value)) return isZero(value) && field(schema, "x-go-omitempty") === true ? undefined : value;
  const isMap = isObject(field(schema, "additionalProperties"));
  const entries = entriesOf(value).flatMap(([key, child]): [string, Json][] => {
    const next = shapeOf(child, propertySchema(schema, key), fail);
    return next === undefined ? [] : [[key, next]];
  });
  return isMap && entries.length === 0 ? undefined : objectFrom(entries);
}

function isZero(value: Json): boolean {
  return value === "" || value === 0 || value === false;
}
