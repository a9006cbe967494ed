import type { Clock } from "@millwright/base";

/** Limits how often a key is reconciled, so that hot loops cost little. A busy key waits a second at most. */
export interface HotLoopGuard {
  /** Milliseconds until the key may be reconciled again; 0: now. Counts nothing. */
  waitMs(key: string): number;
  /** Counts a reconcile of the key that begins now. */
  count(key: string): void;
}

const windowMs = 1_000;
/** Number of keys from which those of past seconds are removed. */
const sweepSize = 1_024;

const hasEnded = (startMs: number, nowMs: number): boolean => nowMs - startMs >= windowMs;

/** Creates a guard that admits `limit` reconciles of a key per second. */
export function createHotLoopGuard(clock: Clock, limit: number): HotLoopGuard {
  // Invariant: a window that has not ended holds the number of reconciles admitted in it, at most `limit`.
  const windows = new Map<string, { readonly startMs: number; reconciles: number }>();
  let sweepAt = sweepSize;

  function sweep(nowMs: number): void {
    for (const [key, { startMs }] of windows) if (hasEnded(startMs, nowMs)) windows.delete(key);
    sweepAt = Math.max(sweepSize, windows.size * 2);
  }

  return {
    waitMs(key) {
      const nowMs = clock.monotonicMs();
      const window = windows.get(key);
      if (window === undefined || hasEnded(window.startMs, nowMs) || window.reconciles < limit) return 0;
      return window.startMs + windowMs - nowMs;
    },
    count(key) {
      const nowMs = clock.monotonicMs();
      const window = windows.get(key);
      if (window !== undefined && !hasEnded(window.startMs, nowMs)) {
        window.reconciles++;
        return;
      }
      if (windows.size >= sweepAt) sweep(nowMs);
      windows.set(key, { startMs: nowMs, reconciles: 1 });
    },
  };
}
