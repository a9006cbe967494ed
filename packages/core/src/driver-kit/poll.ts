import type { Clock, Random } from "@millwright/base";

/** How much longer the pause is each time. */
const growth = 1.5;
/** Half of a pause is chance, so that machines that were made together do not ask together. */
const jitter = 0.5;

/** Options of {@link poll}. */
export interface PollOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** The first pause, milliseconds; the longest is ten times as long. */
  readonly pauseMs: number;
  /** After which no other look begins, milliseconds. Absent: the signal ends it. */
  readonly limitMs?: number;
}

/**
 * Looks again and again until there is an answer, with growing pauses. Undefined when the time is over first.
 *
 * Rejects with the reason of the signal when that aborts during a pause, and with whatever a look throws.
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
