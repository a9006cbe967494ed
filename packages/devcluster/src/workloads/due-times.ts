/** Remembers since when something has been waited for, or whether it was asked for at all; see `View.due` and `View.isNew`. */
export interface DueTimes {
  due(key: string, delayMs: number): boolean;
  isNew(key: string): boolean;
  /** Ends a pass: forgets what it did not ask for. Returns the time until the next thing is due, if any. */
  endPass(): number | undefined;
}

/** Creates an empty memory on a monotonic clock. */
export function createDueTimes(nowMs: () => number): DueTimes {
  let before = new Map<string, number>();
  let asked = new Map<string, number>();
  let nextMs: number | undefined;
  return {
    due(key, delayMs) {
      const now = nowMs();
      const since = before.get(key) ?? asked.get(key) ?? now;
      asked.set(key, since);
      const leftMs = since + delayMs - now;
      if (leftMs <= 0) return true;
      nextMs = Math.min(nextMs ?? leftMs, leftMs);
      return false;
    },
    isNew(key) {
      const isKnown = before.has(key) || asked.has(key);
      asked.set(key, before.get(key) ?? asked.get(key) ?? nowMs());
      return !isKnown;
    },
    endPass() {
      before = asked;
      asked = new Map();
      const wait = nextMs;
      nextMs = undefined;
      return wait;
    },
  };
}
