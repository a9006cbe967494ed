import type { Clock, Random } from "@millwright/base";
import type { Connectivity } from "../client/connectivity.ts";

/** Callers retry within this time after the server became reachable, at random, so that they do not retry all at once. */
const spreadMs = 2_000;

/** What {@link sleepUntilReachable} needs. */
export interface SleepUntilReachableOptions {
  /** Maximum duration, milliseconds. */
  readonly ms: number;
  /** Of the client whose server is unreachable. Absent: always sleeps for the maximum duration. */
  readonly connectivity: Connectivity | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * Sleeps while a server is unreachable. Ends early, within 2 s, when any other request of the same client gets a response: otherwise every cache would
 * wait for the end of its own backoff after a long outage, although the process has reached the server.
 *
 * @returns whether the server is known to be reachable. On abort: at once, without an error
 */
export async function sleepUntilReachable(options: SleepUntilReachableOptions): Promise<boolean> {
  const { clock, random, signal, connectivity } = options;
  const early = new AbortController();
  let isBack = false;
  const ending = connectivity?.onRegained(() => {
    if (isBack) return;
    isBack = true;
    void clock.sleep(random.next() * spreadMs, early.signal).then(
      () => early.abort(),
      () => {},
    );
  });
  try {
    await clock.sleep(options.ms, AbortSignal.any([signal, early.signal]));
  } catch {
    // Ended early or aborted: the caller checks its signal.
  } finally {
    ending?.();
    early.abort();
  }
  return isBack;
}
