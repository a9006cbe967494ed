/** When each wait began; see `View.due` and `View.isNew`. */
export interface DueTimes {
  due(key: string, delayMs: number): boolean;
  isNew(key: string): boolean;
  /** Ends a reconcile: forgets the keys that it did not use. Returns the time until the next key is due, if any. */
  endReconcile(): number | undefined;
}

/** Creates an empty set of waits on a monotonic clock. */
export function createDueTimes(nowMs: () => number): DueTimes {
  let before = new Map<string, number>();
  let used = new Map<string, number>();
  let nextMs: number | undefined;
  return {
    due(key, delayMs) {
      const now = nowMs();
      const since = before.get(key) ?? used.get(key) ?? now;
      used.set(key, since);
      const leftMs = since + delayMs - now;
      if (leftMs <= 0) return true;
      nextMs = Math.min(nextMs ?? leftMs, leftMs);
      return false;
    },
    isNew(key) {
      const isKnown = before.has(key) || used.has(key);
      used.set(key, before.get(key) ?? used.get(key) ?? nowMs());
      return !isKnown;
    },
    endReconcile() {
      before = used;
      used = new Map();
      const wait = nextMs;
      nextMs = undefined;
      return wait;
    },
  };
}
