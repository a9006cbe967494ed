import type { Clock } from "@millwright/base";

/** How much work the reconciles of a controller may be. */
export interface PaceOptions {
  /** What a reconcile of a key reads, now: for example the number of objects that it owns. Must be cheap. */
  readonly costOf: (key: string) => number;
  /** How much reconciles may read per second, all keys together. */
  readonly costPerSecond: number;
  /** A key that costs no more than this is never delayed, and not counted. */
  readonly freeCost: number;
  /** Maximum delay of a key, milliseconds. */
  readonly maxDelayMs: number;
}

/**
 * Spaces reconciles of expensive keys, so that they cannot occupy the event loop: without it, a key whose reconcile reads n objects would be
 * reconciled for each change of one of them, which is n² for a change of all.
 */
export interface CostPace {
  /** Counts a reconcile of the key and returns 0, or returns the milliseconds until the key may be reconciled. */
  admit(key: string): number;
}

/**
 * Creates a pace.
 *
 * Promised: a key that comes when nothing expensive was reconciled lately is admitted at once; no key waits for more than `maxDelayMs` from its first
 * `admit`; keys are admitted in the order in which they asked. The caller must ask again for a key that is to wait, so no key is lost.
 */
export function createCostPace(clock: Clock, options: PaceOptions): CostPace {
  const { costOf, costPerSecond, freeCost, maxDelayMs } = options;
  /** When the next expensive key is admitted, on the monotonic clock: what was admitted until now is worked off then. */
  let nextMs = Number.NEGATIVE_INFINITY;
  // Invariant: the keys that wait, and when each is admitted. The work of each is part of `nextMs` already.
  const admittedAt = new Map<string, number>();

  return {
    admit(key) {
      const nowMs = clock.monotonicMs();
      const known = admittedAt.get(key);
      if (known !== undefined) {
        if (known > nowMs) return known - nowMs;
        admittedAt.delete(key);
        return 0;
      }
      const cost = costOf(key);
      if (cost <= freeCost) return 0;
      const startMs = Math.min(Math.max(nowMs, nextMs), nowMs + maxDelayMs);
      nextMs = startMs + (1_000 * cost) / costPerSecond;
      if (startMs <= nowMs) return 0;
      admittedAt.set(key, startMs);
      return startMs - nowMs;
    },
  };
}
