/** Gives back what was first put under a key, as long as the key comes again from time to time. */
export interface RecentPool<T> {
  /** What is known under the key; `make` is asked when nothing is. */
  get(key: string, make: () => T): T;
}

/**
 * Remembers at least the latest `limit` keys and at most twice as many: when the young half is full, the old half is forgotten, and
 * what is asked for out of the old half becomes young again.
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
