import type { Clock } from "@millwright/core";

/**
 * The wall time, milliseconds, of a time of the monotonic clock. Waits within this process are kept by the monotonic clock, and shown to decisions as wall
 * time when they are read: a jump of the wall clock neither ends nor prolongs them.
 */
export const wallTimeOf = (clock: Pick<Clock, "now" | "monotonicMs">, atMs: number): number =>
  clock.now().getTime() - clock.monotonicMs() + atMs;
