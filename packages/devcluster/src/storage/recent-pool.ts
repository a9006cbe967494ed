/** Returns the value that was first stored under a key, as long as the key is used from time to time. */
export interface RecentPool<T> {
  /** The value of the key; `make` creates a missing one. */
  get(key: string, make: () => T): T;
}

/**
 * Keeps at least the latest `limit` keys and at most twice as many. When the young half is full, the old half is dropped; a key
 * of the old half that is used becomes young again.
 */
export function createRecentPool<T>(limit: number): RecentPool<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return {
    get(key, make) {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const value = old.get(key) ?? make();
      if (young.size >= limit) {
        old = young;
        young = new Map();
      }
      young.set(key, value);
      return value;
    },
  };
}
