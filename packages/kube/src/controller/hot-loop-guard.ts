import type { Clock } from "@millwright/base";

/** Limits how often a key is reconciled, so that hot loops cost little. A busy key waits a second at most. */
export interface HotLoopGuard {
  /** Counts a reconcile of the key and returns 0, or returns the milliseconds until the key may be reconciled again. */
  admit(key: string): number;
}

const windowMs = 1_000;
/** Number of keys from which those of past seconds are removed. */
const sweepSize = 1_024;

/** Creates a guard that admits `limit` reconciles of a key per second. */
export function createHotLoopGuard(clock: Clock, limit: number): HotLoopGuard {
  // Invariant: a window that has not ended holds the number of reconciles admitted in it, at most `limit`.
  const windows = new Map<string, { readonly startMs: number; reconciles: number }>();
  let sweepAt = sweepSize;

  function sweep(nowMs: number): void {
    for (const [key, { startMs }] of windows) if (nowMs - startMs >= windowMs) windows.delete(key);
    sweepAt = Math.max(sweepSize, windows.size * 2);
  }

  return {
    admit(key) {
      const nowMs = clock.monotonicMs();
      const window = windows.get(key);
      if (window === undefined || nowMs - window.startMs >= windowMs) {
        if (windows.size >= sweepAt) sweep(nowMs);
        windows.set(key, { startMs: nowMs, reconciles: 1 });
        return 0;
      }
      if (window.reconciles >= limit) return window.startMs + windowMs - nowMs;
      window.reconciles++;
      return 0;
    },
  };
}
