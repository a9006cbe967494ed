import type { Random } from "@millwright/base";

/** Bounds of an exponential backoff. */
export interface BackoffOptions {
  /** The first delay, milliseconds. */
  readonly initialMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
}

/**
 * The delay after the n-th failure in a row (n from 0): doubles each time up to the cap, then shortened at random by up to
 * a half, so that what failed together does not come back together. Never more than `maxMs`, however large n is.
 */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random): number {
  // 2^1024 is Infinity, and the minimum with it is still the cap.
  const full = Math.min(options.maxMs, options.initialMs * 2 ** Math.max(0, failures));
  return full * (1 - random.next() / 2);
}
