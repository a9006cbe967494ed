import type { Clock, Random } from "@millwright/base";
import type { Connectivity } from "../client/connectivity.ts";

/** Who sleeps until a server is back comes within this time after somebody else found it back, at random: all at once would be a herd. */
const spreadMs = 2_000;

/** What {@link sleepUntilBack} needs. */
export interface SleepUntilBackOptions {
  /** How long to sleep if nobody finds the server back, milliseconds. */
  readonly ms: number;
  /** Of the client that found the server away, with its server. Absent: nobody tells. */
  readonly connectivity: Connectivity | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * Sleeps after a server was found away. Ends early, within 2 s, when anything else that the same client asked for is answered: after a long
 * outage every cache would sleep out its own delay otherwise, though the process knows that the server is there.
 *
 * @returns whether the server is known to be back. On abort: at once, without an error
 */
export async function sleepUntilBack(options: SleepUntilBackOptions): Promise<boolean> {
  const { clock, random, signal, connectivity } = options;
  const woken = new AbortController();
  let isBack = false;
  const ending = connectivity?.onRegained(() => {
    if (isBack) return;
    isBack = true;
    void clock.sleep(random.next() * spreadMs, woken.signal).then(
      () => woken.abort(),
      () => {},
    );
  });
  try {
    await clock.sleep(options.ms, AbortSignal.any([signal, woken.signal]));
  } catch {
    // Woken, or told to stop: the caller looks at its signal.
  } finally {
    ending?.();
    woken.abort();
  }
  return isBack;
}
