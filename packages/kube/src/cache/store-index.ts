import type { ApiObject } from "../objects/kube-object.ts";

/** The values under which an object is found in an index: none, one or several. Must be pure. */
export type IndexFunction<T extends ApiObject> = (object: T) => string | readonly string[] | undefined;

/** One index of a store: value → keys of the objects that have it. */
export interface StoreIndex<T extends ApiObject> {
  /** What is under a key now; undefined: nothing any more. */
  update(key: string, current: T | undefined): void;
  keys(value: string): ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/**
 * Makes an index.
 *
 * @param failed called when the index function throws; the object is then in no bucket of this index
 */
export function createStoreIndex<T extends ApiObject>(
  indexFunction: IndexFunction<T>,
  failed: (error: unknown, object: T) => void,
): StoreIndex<T> {
  // Invariants: no bucket is empty; a key is in the bucket of a value exactly when `valuesOf` names the value for it.
  const buckets = new Map<string, Set<string>>();
  // One value, as most have, is kept without a list around it.
  const valuesOf = new Map<string, string | readonly string[]>();

  function compute(object: T | undefined): string | readonly string[] | undefined {
    if (object === undefined) return undefined;
    try {
      const values = indexFunction(object);
      return typeof values === "string" || values === undefined || values.length === 0 ? values : [...values];
    } catch (error) {
      failed(error, object);
      return undefined;
    }
  }

  function update(key: string, current: T | undefined): void {
    const computed = compute(current);
    const values = listOf(computed);
    for (const value of listOf(valuesOf.get(key))) {
      if (values.includes(value)) continue;
      const bucket = buckets.get(value);
      bucket?.delete(key);
      if (bucket?.size === 0) buckets.delete(value);
    }
    for (const value of values) {
      const bucket = buckets.get(value);
      if (bucket === undefined) buckets.set(value, new Set([key]));
      else bucket.add(key);
    }
    if (computed === undefined || values.length === 0) valuesOf.delete(key);
    else valuesOf.set(key, computed);
  }

  return { update, keys: (value) => buckets.get(value) ?? none };
}

function listOf(values: string | readonly string[] | undefined): readonly string[] {
  if (values === undefined) return [];
  return typeof values === "string" ? [values] : values;
}
