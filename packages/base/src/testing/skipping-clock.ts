import { type Clock, systemClock } from "../clock.ts";

/** The system's clock, which can be put forward. */
export interface SkippingClock extends Clock {
  /** Puts the clock forward by `ms` milliseconds. Timers that are set do not notice; what is looked at later is older. */
  skip(ms: number): void;
}

/**
 * A clock for emulated clouds: an operation that takes an hour runs until the test skips it, however busy the computer is.
 *
 * @example
 * const clock = createSkippingClock();
 * const cloud = createCloud({ clock, bootMs: 3_600_000 });
 * clock.skip(3_600_000);
 */
export function createSkippingClock(): SkippingClock {
  let skippedMs = 0;
  return {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + skippedMs),
    monotonicMs: () => systemClock.monotonicMs() + skippedMs,
    skip: (ms) => void (skippedMs += ms),
  };
}
