import type { Clock } from "@millwright/base";

/** How many events may be written: a token bucket. */
export interface EventBudgetOptions {
  /** Events at once after a quiet time. */
  readonly burst: number;
  /** Events per second in the long run. */
  readonly perSecond: number;
}

/** A budget of events. */
export interface EventBudget {
  /** Whether one more event may be written now; it then counts. */
  take(): boolean;
}

/** Creates a budget that is full. */
export function createEventBudget(clock: Clock, { burst, perSecond }: EventBudgetOptions): EventBudget {
  // Invariant: `left` is between 0 and `burst`, and right for `atMs` on the monotonic clock.
  let left = burst;
  let atMs = clock.monotonicMs();
  return {
    take() {
      const nowMs = clock.monotonicMs();
      left = Math.min(burst, left + ((nowMs - atMs) * perSecond) / 1_000);
      atMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
