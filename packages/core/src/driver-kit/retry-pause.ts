import type { Random } from "@millwright/base";

/** Maximum number of attempts of a request within one call. After that the controller repeats the call. */
export const maxAttempts = 3;

/** Maximum delay between two attempts, milliseconds. */
export const longestRetryPauseMs = 2_000;

const baseMs = 100;

/**
 * Exponential backoff with full jitter before the next attempt, milliseconds. Throttled requests wait for their turn instead (`RateLimit`).
 *
 * @param retries number of the retry; 1 for the first one
 */
export const retryPauseMs = (retries: number, random: Random): number =>
  random.next() * Math.min(longestRetryPauseMs, baseMs * 2 ** retries);
