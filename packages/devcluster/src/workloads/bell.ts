import type { Clock } from "@millwright/base";

/** What a loop waits for. */
export interface Bell {
  ring(): void;
  reset(): void;
  /** Resolves at the next ring, after `ms` when given, or when the signal aborts. */
  wait(clock: Clock, ms: number | undefined, signal: AbortSignal): Promise<void>;
}

/** Lets a loop wait for a change: rings that come while nobody waits are heard by the next one who does. */
export function createBell(): Bell {
  let hasRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      hasRung = true;
      wake?.();
    },
    reset() {
      hasRung = false;
    },
    wait(clock, ms, signal) {
      if (hasRung || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = ms === undefined ? undefined : clock.setTimer(ms, () => done());
        const done = (): void => {
          timer?.cancel();
          wake = undefined;
          signal.removeEventListener("abort", done);
          resolve();
        };
        wake = done;
        signal.addEventListener("abort", done, { once: true });
      });
    },
  };
}
