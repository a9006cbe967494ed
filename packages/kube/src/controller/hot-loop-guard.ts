import type { Clock } from "@millwright/base";

/**
 * Limits how often a key is reconciled, so that hot loops cost little. After a burst the reconciles of a busy key are evenly spaced: a change of it waits for the time between two of them at most, and
 * not for the rest of a second.
 */
export interface HotLoopGuard {
  /** Milliseconds until the key may be reconciled again; 0: now. Counts nothing. */
  waitMs(key: string): number;
  /** Counts a reconcile of the key that begins now. */
  count(key: string): void;
}

/** Number of keys from which those that were not reconciled lately are removed. */
const sweepSize = 1_024;

/** Creates a guard that admits `limit` reconciles of a key per second in the long run, and as many at once after a quiet time. */
export function createHotLoopGuard(clock: Clock, limit: number): HotLoopGuard {
  const spaceMs = 1_000 / limit;
  /** How far `freeAt` may be ahead when one more is admitted. */
  const burstMs = spaceMs * (limit - 1);
  // When each key would have been reconciled last, had its reconciles been evenly spaced, plus the space of one. Those in the past mean nothing.
  const freeAt = new Map<string, number>();
  let sweepAt = sweepSize;

  function sweep(nowMs: number): void {
    for (const [key, freeAtMs] of freeAt) if (freeAtMs <= nowMs) freeAt.delete(key);
    sweepAt = Math.max(sweepSize, freeAt.size * 2);
  }

  return {
    waitMs: (key) => Math.max(0, (freeAt.get(key) ?? 0) - burstMs - clock.monotonicMs()),
    count(key) {
      const nowMs = clock.monotonicMs();
      if (freeAt.size >= sweepAt) sweep(nowMs);
      freeAt.set(key, Math.max(freeAt.get(key) ?? 0, nowMs) + spaceMs);
    },
  };
}
