import type { MethodCall } from "./method-call.ts";

/** How much longer the pause is each time. */
const growth = 1.5;
/** Half of a pause is chance, so that machines that were made together do not ask together. */
const jitter = 0.5;

/**
 * Looks again and again until there is an answer, with growing pauses. Undefined when the time is over first.
 *
 * @param limitMs after which no other look begins; absent: the call's own deadline ends it
 */
export async function poll<T>(
  { context, random, patience }: Pick<MethodCall, "context" | "random" | "patience">,
  look: () => Promise<T | undefined>,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<T | undefined> {
  const { clock, signal } = context;
  const startMs = clock.monotonicMs();
  for (let pauseMs = patience.pollMs; ; pauseMs = Math.min(pauseMs * growth, patience.pollMs * 10)) {
    const found = await look();
    if (found !== undefined) return found;
    const nextMs = pauseMs * (1 - jitter * random.next());
    if (clock.monotonicMs() - startMs + nextMs > limitMs) return undefined;
    await clock.sleep(nextMs, signal);
  }
}
