import type { Clock, Random } from "@millwright/base";
import { isConflict } from "./api-error.ts";

/** With what {@link retryConflicts} waits. */
export interface ConflictRetries {
  readonly clock: Clock;
  readonly random: Random;
  /** Until when it repeats. */
  readonly signal: AbortSignal;
}

/** Longest pause before the first repetition, and before any, milliseconds. */
const [FIRST_MS, LONGEST_MS] = [10, 500];

/**
 * Repeats what reads an object and changes that version of it, for as long as other clients are faster. Pauses are random, so that callers who met once do not meet again.
 *
 * @throws what `attempt` throws; the last conflict once `signal` aborts
 */
export async function retryConflicts<T>(
  attempt: () => Promise<T>,
  { clock, random, signal }: ConflictRetries,
): Promise<T> {
  for (let longestMs = FIRST_MS; ; longestMs = Math.min(2 * longestMs, LONGEST_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error)) throw error;
      await clock.sleep(random.next() * longestMs, signal).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}
