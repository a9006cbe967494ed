import type { Random } from "@millwright/base";

/** How often a request is sent at most within one call. Beyond that the controller repeats the call, and shows why. */
export const maxAttempts = 3;

/** Nobody waits longer than this between two attempts, milliseconds. */
export const longestRetryPauseMs = 2_000;

const baseMs = 100;

/**
 * How long to wait before a request is sent once more, milliseconds: with full jitter, and twice as long each time. Throttled requests wait for their turn instead (`RateLimit`).
 *
 * @param retries how often it will have been sent once more; 1 for the first time
 */
export const retryPauseMs = (retries: number, random: Random): number =>
  random.next() * Math.min(longestRetryPauseMs, baseMs * 2 ** retries);
