import type { Clock, Random } from "@millwright/base";

/** How long a driver waits for what its cloud shows late. */
export interface PollTimes {
  /** For how long a requested VM may be invisible, or without a name, milliseconds. */
  readonly visibleMs: number;
  /** Delay before a second lookup of a recently requested VM that was not found and has no stored id, milliseconds. */
  readonly lookAgainMs: number;
  /** First interval between two lookups of a VM that is starting or being deleted, milliseconds. Grows to ten times as much. */
  readonly pollMs: number;
}

/** Two minutes for a VM to become visible, 3 s before a second lookup, 0.5 s to 5 s between lookups. */
export const defaultPollTimes: PollTimes = { visibleMs: 120_000, lookAgainMs: 3_000, pollMs: 500 };

/** How much longer the pause is each time. */
const growth = 1.5;
/** Half of a pause is random, so that machines that were created together do not send requests together. */
const jitter = 0.5;

/** Options of {@link poll}. */
export interface PollOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** The first pause, milliseconds; the longest is ten times as long. */
  readonly pauseMs: number;
  /** After which no other lookup starts, milliseconds. Absent: the signal ends the poll. */
  readonly limitMs?: number;
}

/**
 * Repeats a lookup until it returns a value, with growing pauses. Undefined after the limit.
 *
 * Rejects with the reason of the signal when it aborts during a pause, and with the error of a lookup.
 */
export async function poll<T>(options: PollOptions, look: () => Promise<T | undefined>): Promise<T | undefined> {
  const { clock, random, signal, limitMs = Number.POSITIVE_INFINITY } = options;
  const startMs = clock.monotonicMs();
  for (let pauseMs = options.pauseMs; ; pauseMs = Math.min(pauseMs * growth, options.pauseMs * 10)) {
    const found = await look();
    if (found !== undefined) return found;
    const nextMs = pauseMs * (1 - jitter * random.next());
    if (clock.monotonicMs() - startMs + nextMs > limitMs) return undefined;
    await clock.sleep(nextMs, signal);
  }
}
