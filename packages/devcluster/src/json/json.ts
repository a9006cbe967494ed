/** Any JSON value, read-only: stored values are frozen and shared by reference. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Read keys of clients with {@link field}, never with `[]`: a label may be called `constructor`. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for JSON objects: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for JSON arrays. */
export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The own property `key` of an object; undefined for everything else, inherited properties included. */
export function field(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Follows own properties from `value`; undefined as soon as one is missing. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const key of path) current = field(current, key);
  return current;
}

/** The string at a path; undefined when it is missing or not a string. */
export function stringAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** The object at a path; an empty one when it is missing or not an object. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

/** The array at a path; an empty one when it is missing or not an array. */
export function arrayAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return isArray(found) ? found : [];
}

/** The entries of an object that have a value. */
export function entriesOf(value: Json | undefined): [string, Json][] {
  if (!isObject(value)) return [];
  const entries: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) if (item !== undefined) entries.push([key, item]);
  return entries;
}

/** An object of entries. Every key becomes an own property, even `__proto__`. */
export function objectFrom(entries: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries(entries);
}

/** A copy of `object` with `value` at `path`; missing parents are created. `undefined` removes the field. */
export function withField(object: JsonObject, path: readonly string[], value: Json | undefined): JsonObject {
  const [head, ...rest] = path;
  if (head === undefined) return object;
  if (value === undefined && rest.length > 0 && !isObject(field(object, head))) return object;
  const next = rest.length === 0 ? value : withField(objectAt(object, head), rest, value);
  if (next === undefined) {
    if (!Object.hasOwn(object, head)) return object;
    return objectFrom(entriesOf(object).filter(([key]) => key !== head));
  }
  return { ...object, [head]: next };
}

/** Deep equality of JSON values; a property that is undefined counts as missing. */
export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  let count = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    count += 1;
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false;
  }
  for (const key in b) if (b[key] !== undefined) count -= 1;
  return count === 0;
}

/** Freezes a JSON value deeply and returns it. Skips parts that are frozen. */
export function deepFreeze<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) if (typeof item === "object") deepFreeze(item);
  return value;
}

/**
 * The text of a JSON value. Like Go's encoder it escapes U+2028 and U+2029, because some clients split a watch stream at every
 * Unicode line end.
 */
export function jsonText(value: Json): string {
  const text = JSON.stringify(value);
  return text.includes("\u2028") || text.includes("\u2029")
    ? text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : text;
}

/** The type of a JSON value in JSON Schema; whole numbers are `integer`. */
export function jsonTypeOf(value: Json): string {
  if (value === null) return "null";
  if (isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
