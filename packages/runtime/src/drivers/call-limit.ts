import type { Clock } from "@millwright/base";
import { MachineError } from "@millwright/core";

/** What runs with a deadline, and how many milliseconds it has left at any time. */
export type LimitedRun<Result> = (signal: AbortSignal, remainingMs: () => number) => Promise<Result>;

/**
 * Runs a call of a driver with a deadline. A call that ignores its signal is abandoned when that aborts, and passed to `onAbandoned`: the machine can be worked
 * on again.
 *
 * @throws MachineError DeadlineExceeded, or the reason of the signal
 */
export type CallLimit = <Result>(
  what: string,
  signal: AbortSignal,
  run: LimitedRun<Result>,
  onAbandoned?: (running: Promise<Result>) => void,
) => Promise<Result>;

export const createCallLimit =
  (clock: Clock, timeoutMs: number): CallLimit =>
  async (what, signal, run, onAbandoned) => {
    const deadline = new AbortController();
    const endMs = clock.monotonicMs() + timeoutMs;
    const timer = clock.setTimer(timeoutMs, () =>
      deadline.abort(new MachineError("DeadlineExceeded", `${what} took longer than ${timeoutMs / 1000} s`)),
    );
    const combined = AbortSignal.any([signal, deadline.signal]);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(combined.reason);
    combined.addEventListener("abort", onAbort, { once: true });
    try {
      combined.throwIfAborted();
      const running = run(combined, () => endMs - clock.monotonicMs());
      const onLeft = (): void => onAbandoned?.(running);
      combined.addEventListener("abort", onLeft, { once: true });
      try {
        return await Promise.race([running, aborted.promise]);
      } finally {
        combined.removeEventListener("abort", onLeft);
      }
    } finally {
      timer.cancel();
      combined.removeEventListener("abort", onAbort);
    }
  };
