import { arrayAt, at, field, isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";

/**
 * An OpenAPI v3 schema with Kubernetes' extensions, as plain JSON. Built-in kinds and CRDs share the functions that read it.
 */
export type Schema = JsonObject;

/** The schema of one property: its own, or that of additionalProperties; undefined for an unknown property. */
export function propertySchema(schema: Schema | undefined, key: string): Schema | undefined {
  const own = at(schema, "properties", key);
  if (isObject(own)) return own;
  const additional = field(schema, "additionalProperties");
  return isObject(additional) ? additional : undefined;
}

/** The schema of a list's items. */
export function itemSchema(schema: Schema | undefined): Schema | undefined {
  const items = field(schema, "items");
  return isObject(items) ? items : undefined;
}

/** How server-side apply treats a list. Lists are atomic by default. */
export function listTypeOf(schema: Schema | undefined): "atomic" | "set" | "map" {
  const type = stringAt(schema, "x-kubernetes-list-type");
  return type === "set" || type === "map" ? type : "atomic";
}

/** The keys that identify an item of a `map` list. */
export function listMapKeysOf(schema: Schema | undefined): readonly string[] {
  return arrayAt(schema, "x-kubernetes-list-map-keys").filter((key) => typeof key === "string");
}

/** Whether server-side apply treats a map or struct as one value. */
export function isAtomicMap(schema: Schema | undefined): boolean {
  return stringAt(schema, "x-kubernetes-map-type") === "atomic";
}

/** The key by which strategic merge patch matches list items; undefined for lists that it replaces. */
export function patchMergeKeyOf(schema: Schema | undefined): string | undefined {
  return stringAt(schema, "x-kubernetes-patch-merge-key");
}

/** The strategic merge patch strategies of a field: `merge`, `retainKeys`. */
export function patchStrategiesOf(schema: Schema | undefined): readonly string[] {
  return stringAt(schema, "x-kubernetes-patch-strategy")?.split(",") ?? [];
}

/** The default of an item key in a list's schema, for items without the key. */
export function defaultOf(schema: Schema | undefined): Json | undefined {
  return field(schema, "default");
}
