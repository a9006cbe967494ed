import { type Clock, systemClock } from "../clock.ts";

/**
 * The system's clock with durations `times` as fast, for tests of what takes minutes: all that waits, and all that is waited for, goes by the same clock. What a computer needs to work seems to
 * take as many times longer. Stamps are those of the system.
 */
export const createFastClock = (times: number): Clock => ({
  now: () => systemClock.now(),
  monotonicMs: () => systemClock.monotonicMs() * times,
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  setTimer: (ms, run) => systemClock.setTimer(ms / times, run),
});
