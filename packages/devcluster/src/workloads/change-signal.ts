import type { Clock } from "@millwright/base";

/** A signal that a loop waits for. */
export interface ChangeSignal {
  notify(): void;
  reset(): void;
  /** Resolves at the next notification, after `ms` when given, or when the signal aborts. */
  wait(clock: Clock, ms: number | undefined, signal: AbortSignal): Promise<void>;
}

/** Lets a loop wait for a change. A notification while no loop waits ends the next wait at once. */
export function createChangeSignal(): ChangeSignal {
  let isPending = false;
  let resume: (() => void) | undefined;
  return {
    notify() {
      isPending = true;
      resume?.();
    },
    reset() {
      isPending = false;
    },
    wait(clock, ms, signal) {
      if (isPending || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = ms === undefined ? undefined : clock.setTimer(ms, () => done());
        const done = (): void => {
          timer?.cancel();
          resume = undefined;
          signal.removeEventListener("abort", done);
          resolve();
        };
        resume = done;
        signal.addEventListener("abort", done, { once: true });
      });
    },
  };
}
