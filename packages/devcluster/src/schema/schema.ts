import { arrayAt, at, field, isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";

/**
 * An OpenAPI v3 schema with Kubernetes' extensions, as plain JSON. The functions of this module read it, so that built-in
 * kinds and CRDs go through the same code.
 */
export type Schema = JsonObject;

/** The schema of one property: its own, or that of additionalProperties; undefined when the schema does not know it. */
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

/** How server-side apply treats a list. Lists are atomic unless they say otherwise. */
export function listTypeOf(schema: Schema | undefined): "atomic" | "set" | "map" {
  const type = stringAt(schema, "x-kubernetes-list-type");
  return type === "set" || type === "map" ? type : "atomic";
}

/** The fields that identify an item of a `map` list. */
export function listMapKeysOf(schema: Schema | undefined): readonly string[] {
  return arrayAt(schema, "x-kubernetes-list-map-keys").filter((key) => typeof key === "string");
}

/** Whether server-side apply takes a map or struct as one value. */
export function isAtomicMap(schema: Schema | undefined): boolean {
  return stringAt(schema, "x-kubernetes-map-type") === "atomic";
}

/** The key by which strategic merge patch pairs the items of a list; undefined for lists that it replaces. */
export function patchMergeKeyOf(schema: Schema | undefined): string | undefined {
  return stringAt(schema, "x-kubernetes-patch-merge-key");
}

/** The strategic merge patch strategies of a field: `merge`, `retainKeys`. */
export function patchStrategiesOf(schema: Schema | undefined): readonly string[] {
  return stringAt(schema, "x-kubernetes-patch-strategy")?.split(",") ?? [];
}

/** The default of an item key that a list's schema gives, used when an item leaves the key out. */
export function defaultOf(schema: Schema | undefined): Json | undefined {
  return field(schema, "default");
}
