/** A timer that has been set and may still be canceled. */
export interface Timer {
  /** Keeps the timer from firing. Canceling twice, or after it has fired, does nothing. */
  cancel(): void;
}

/**
 * The only source of time. Everything that waits, measures or stamps takes a `Clock`, so that the same code runs in
 * production and in virtual time (`createVirtualClock` of `@millwright/core/testing`).
 */
export interface Clock {
  /** Wall time: for stamps that people or other programs read. May jump; never use it to measure how long something took. */
  now(): Date;
  /** Milliseconds since an arbitrary start. Never goes back: for durations and deadlines within this process. */
  monotonicMs(): number;
  /**
   * Resolves after `ms` milliseconds; at once, but not synchronously, for zero, a negative number or NaN. There is no
   * upper bound: periods beyond the 2^31 ms of `setTimeout` wait for their full length.
   *
   * On abort it rejects with `signal.reason` and leaves no timer behind.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once after `ms` milliseconds, with the same bounds as {@link Clock.sleep}. A set timer keeps the process
   * alive until it has fired or been canceled.
   */
  setTimer(ms: number, run: () => void): Timer;
}

/**
 * The wall time, milliseconds, of a time of the monotonic clock. Waits within this process are kept by the monotonic clock, and shown to decisions as wall
 * time when they are read: a jump of the wall clock neither ends nor prolongs them.
 */
export const wallTimeOf = (clock: Pick<Clock, "now" | "monotonicMs">, atMs: number): number =>
  clock.now().getTime() - clock.monotonicMs() + atMs;

/** The longest delay that `setTimeout` takes; it fires at once for anything longer. */
const longestTimeoutMs = 2 ** 31 - 1;

/** The delay that is meant by a number from a caller: never negative, never NaN. */
export function normalizeDelayMs(ms: number): number {
  return ms > 0 ? ms : 0;
}

/** `Clock.sleep` in terms of `setTimer`, shared by every clock. */
export function sleepWith(
  setTimer: (ms: number, run: () => void) => Timer,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = setTimer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function setSystemTimer(ms: number, run: () => void): Timer {
  let handle: NodeJS.Timeout | undefined;
  const wait = (remainingMs: number): void => {
    handle =
      remainingMs > longestTimeoutMs
        ? setTimeout(() => wait(remainingMs - longestTimeoutMs), longestTimeoutMs)
        : setTimeout(run, remainingMs);
  };
  wait(normalizeDelayMs(ms));
  return { cancel: () => clearTimeout(handle) };
}

/** The clock of the machine that the process runs on. */
export const systemClock: Clock = Object.freeze({
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) => sleepWith(setSystemTimer, ms, signal),
  setTimer: setSystemTimer,
});
