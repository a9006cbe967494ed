import { plainText } from "../json/quoting.ts";
import {
  entriesOf,
  field,
  isArray,
  isObject,
  type Json,
  jsonEqual,
  type JsonObject,
  objectFrom,
} from "../json/json.ts";
import { itemSchema, patchMergeKeyOf, patchStrategiesOf, propertySchema, type Schema } from "../schema/schema.ts";
import { badRequest } from "../errors/status-error.ts";

const directive = "$patch";
const retainKeys = "$retainKeys";
const deleteFromPrimitiveList = "$deleteFromPrimitiveList/";
const setElementOrder = "$setElementOrder/";

/**
 * Applies a strategic merge patch: like a merge patch, but lists that have a merge key (or are sets) merge item by item.
 * Directives: `$patch: replace | delete | merge`, `$retainKeys`, `$deleteFromPrimitiveList/x`, `$setElementOrder/x`. Source:
 * Kubernetes API conventions, "strategic merge patch". Throws 400 for invalid directives.
 */
export function applyStrategicMergePatch(target: Json | undefined, patch: Json, schema: Schema | undefined): Json {
  if (!isObject(patch)) return patch;
  return mergeObject(isObject(target) ? target : {}, patch, schema);
}

function mergeObject(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const instruction = field(patch, directive);
  if (instruction === "replace") return withoutDirectives(patch);
  if (instruction === "delete") return {};
  if (instruction !== undefined && instruction !== "merge") {
    throw badRequest(
      `Unknown patch type found: ${plainText(instruction)} in $patch; expected replace, delete or merge`,
    );
  }
  const result = new Map<string, Json>(entriesOf(target));
  keepOnly(result, field(patch, retainKeys));
  for (const [key, value] of entriesOf(patch)) {
    if (key.startsWith("$")) continue;
    if (value === null) result.delete(key);
    else if (isArray(value)) {
      result.set(key, mergeList(field(target, key), value, propertySchema(schema, key), key));
    } else if (isObject(value)) {
      const merged = mergeObject(asObject(result.get(key)), value, propertySchema(schema, key));
      if (field(value, directive) === "delete") result.delete(key);
      else result.set(key, merged);
    } else result.set(key, value);
  }
  for (const [key, value] of entriesOf(patch)) {
    if (key.startsWith(deleteFromPrimitiveList)) {
      const name = key.slice(deleteFromPrimitiveList.length);
      const current = result.get(name);
      if (isArray(current) && isArray(value)) {
        result.set(
          name,
          current.filter((item) => !value.some((removed) => jsonEqual(item, removed))),
        );
      }
    }
  }
  for (const [key, value] of entriesOf(patch)) {
    if (!key.startsWith(setElementOrder) || !isArray(value)) continue;
    const name = key.slice(setElementOrder.length);
    const current = result.get(name);
    if (isArray(current)) result.set(name, reorder(current, value, patchMergeKeyOf(propertySchema(schema, name))));
  }
  return objectFrom(result);
}

function keepOnly(result: Map<string, Json>, keys: Json | undefined): void {
  if (!isArray(keys)) return;
  for (const key of result.keys()) if (!keys.includes(key)) result.delete(key);
}

function mergeList(target: Json | undefined, patch: readonly Json[], schema: Schema | undefined, name: string): Json {
  const mergeKey = patchMergeKeyOf(schema);
  const merges = patchStrategiesOf(schema).includes("merge");
  const replaces = patch.some((item) => isObject(item) && field(item, directive) === "replace");
  // A list that is replaced as a whole has no directives: what looks like one is an ordinary field.
  if (!merges) return patch;
  if (replaces) return patch.filter((item) => !isDirectiveOnly(item)).map(withoutDirectives);
  const current = isArray(target) ? target : [];
  if (mergeKey === undefined) {
    const added = patch.filter((item) => !current.some((known) => jsonEqual(known, item)));
    return inPatchOrder([...current, ...added], patch, current, (item) => item);
  }
  const result = [...current];
  for (const item of patch) {
    if (!isObject(item)) throw badRequest(`the items of ${name} in a strategic merge patch must be objects`);
    const key = field(item, mergeKey);
    if (key === undefined) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
    }
    const index = result.findIndex((known) => jsonEqual(field(known, mergeKey), key));
    const present = result[index];
    if (field(item, directive) === "delete") {
      if (index >= 0) result.splice(index, 1);
    } else if (present === undefined) result.push(mergeObject({}, item, itemSchema(schema)));
    else result[index] = mergeObject(asObject(present), item, itemSchema(schema));
  }
  return inPatchOrder(result, patch, current, (item) => field(item, mergeKey));
}

/**
 * Kubernetes' order of a merged list: items of the patch in the order of the patch, the others in their own order. One of the
 * others comes before an item of the patch only where the live list has both in that order.
 */
function inPatchOrder(
  merged: readonly Json[],
  patch: readonly Json[],
  live: readonly Json[],
  keyOf: (item: Json) => Json | undefined,
): Json[] {
  const textOf = (item: Json): string => JSON.stringify(keyOf(item) ?? null);
  const patchRank = new Map(patch.map((item, index) => [textOf(item), index]));
  const liveRank = new Map(live.map((item, index) => [textOf(item), index]));
  const rank = (item: Json): number => patchRank.get(textOf(item)) ?? 0;
  const ofPatch = merged.filter((item) => patchRank.has(textOf(item))).toSorted((a, b) => rank(a) - rank(b));
  const others = merged.filter((item) => !patchRank.has(textOf(item)));
  const result: Json[] = [];
  let next = 0;
  for (const item of ofPatch) {
    const place = liveRank.get(textOf(item));
    for (; next < others.length; next += 1) {
      const other = others[next];
      const otherPlace = other === undefined ? undefined : liveRank.get(textOf(other));
      if (other === undefined || place === undefined || otherPlace === undefined || otherPlace > place) break;
      result.push(other);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** Orders the listed items as listed; the others keep their place relative to their predecessors. */
function reorder(current: readonly Json[], order: readonly Json[], mergeKey: string | undefined): Json {
  const keyOf = (item: Json | undefined): Json | undefined => (mergeKey === undefined ? item : field(item, mergeKey));
  const ranks = new Map(order.map((item, index) => [JSON.stringify(keyOf(item) ?? null), index]));
  const rankOf = (item: Json): number | undefined => ranks.get(JSON.stringify(keyOf(item) ?? null));
  const listed = current
    .filter((item) => rankOf(item) !== undefined)
    .toSorted((a, b) => (rankOf(a) ?? 0) - (rankOf(b) ?? 0));
  const result: Json[] = [];
  let next = 0;
  for (const item of current) {
    if (rankOf(item) === undefined) result.push(item);
    else {
      const ordered = listed[next];
      next += 1;
      if (ordered !== undefined) result.push(ordered);
    }
  }
  return result;
}

function isDirectiveOnly(item: Json): boolean {
  return isObject(item) && field(item, directive) !== undefined && Object.keys(item).length === 1;
}

function withoutDirectives<T extends Json>(value: T): Json & T;
function withoutDirectives(value: Json): Json {
  if (isArray(value)) return value.filter((item) => !isDirectiveOnly(item)).map((item) => withoutDirectives(item));
  if (!isObject(value)) return value;
  return objectFrom(
    entriesOf(value)
      .filter(([key, item]) => !key.startsWith("$") && item !== null)
      .map(([key, item]) => [key, withoutDirectives(item)]),
  );
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
