import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectFrom } from "../json/json.ts";
import { itemSchema, listTypeOf, propertySchema, type Schema } from "../schema/schema.ts";
import { type FieldSet, isEmptySet } from "./field-set.ts";
import { elementOf, isAtomic } from "./field-tree.ts";

/** Merges an applied configuration into the live object: maps and associative lists merge, all else is replaced. */
export function mergeApplied(live: Json | undefined, applied: Json, schema: Schema | undefined): Json {
  if (live === undefined || isAtomic(applied, schema) || isAtomic(live, schema)) return applied;
  if (isArray(applied)) return isArray(live) ? mergeItems(live, applied, schema) : applied;
  if (!isObject(applied) || !isObject(live)) return applied;
  const result = new Map(entriesOf(live));
  for (const [key, value] of entriesOf(applied)) {
    result.set(key, mergeApplied(field(live, key), value, propertySchema(schema, key)));
  }
  return objectFrom(result);
}

function mergeItems(live: readonly Json[], applied: readonly Json[], schema: Schema | undefined): Json {
  const items = itemSchema(schema);
  const wanted = new Map(applied.map((item) => [elementOf(item, schema), item]));
  const merged = live.map((item) => {
    const element = elementOf(item, schema);
    const change = wanted.get(element);
    wanted.delete(element);
    return change === undefined ? item : mergeApplied(item, change, items);
  });
  return [...merged, ...wanted.values()];
}

/**
 * Removes the fields of `dropped` from a value, except those in `kept`. A list item is removed as a whole when no field of it is
 * kept, and so is a map that becomes empty. Undefined when nothing remains.
 */
export function removeFields(
  value: Json,
  schema: Schema | undefined,
  dropped: FieldSet,
  kept: FieldSet | undefined,
): Json | undefined {
  if (isEmptySet(dropped)) return value;
  const keepsSomething = kept !== undefined && !isEmptySet(kept);
  if (isAtomic(value, schema)) return dropped.isMember && !keepsSomething ? undefined : value;
  if (isArray(value)) return removeItems(value, schema, dropped, kept);
  if (!isObject(value)) return value;
  const left: [string, Json][] = [];
  for (const [key, child] of entriesOf(value)) {
    const below = dropped.children.get(`f:${key}`);
    const next =
      below === undefined
        ? child
        : removeFields(child, propertySchema(schema, key), below, kept?.children.get(`f:${key}`));
    if (next !== undefined) left.push([key, next]);
  }
  return left.length === 0 && !keepsSomething ? undefined : objectFrom(left);
}

function removeItems(
  value: readonly Json[],
  schema: Schema | undefined,
  dropped: FieldSet,
  kept: FieldSet | undefined,
): Json | undefined {
  const items = itemSchema(schema);
  const left = value.flatMap((item) => {
    const element = elementOf(item, schema);
    const below = dropped.children.get(element);
    if (below === undefined) return [item];
    const keptBelow = kept?.children.get(element);
    const isKept = keptBelow !== undefined && !isEmptySet(keptBelow);
    if (below.isMember && !isKept) return [];
    if (listTypeOf(schema) === "set") return [item];
    const next = removeFields(item, items, { ...below, isMember: false }, keptBelow);
    return next === undefined ? [] : [next];
  });
  return left.length === 0 ? undefined : left;
}

/** The live object with an applied configuration, without the fields that its manager owned before and has dropped. */
export function applyConfiguration(
  live: JsonObject,
  applied: JsonObject,
  schema: Schema,
  dropped: FieldSet,
  kept: FieldSet,
): JsonObject {
  const merged = mergeApplied(live, applied, schema);
  const result = removeFields(merged, schema, dropped, kept);
  return isObject(result) ? result : {};
}
