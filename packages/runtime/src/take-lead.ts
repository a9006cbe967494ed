import type { Clock } from "@millwright/core";
import type { Leadership, Log, Reflector } from "@millwright/kube";

/** Interval of the log line of a leader that does not act yet, milliseconds. */
const REMINDER_MS = 10_000;

/**
 * Waits until this process leads, and its caches, by name, are as the server is then. A standby does not know what the leader before it did last, if its watches are late: it would do it again. Until all are there,
 * a log line every ten seconds names those that are not.
 *
 * @throws the reason of the signal when that aborts
 */
export async function takeLead(
  { acquired }: Pick<Leadership, "acquired">,
  caches: Readonly<Record<string, Pick<Reflector, "renew">>>,
  { clock, log }: { readonly clock: Pick<Clock, "setTimer">; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  await acquired(signal);
  const waiting = new Set(Object.keys(caches));
  const remind = () =>
    clock.setTimer(REMINDER_MS, () => {
      log("warn", "Waiting for a new list of some kinds before this leader acts", { kinds: [...waiting] });
      timer = remind();
    });
  let timer = remind();
  try {
    await Promise.all(
      Object.entries(caches).map(async ([name, cache]) => {
        await cache.renew(signal);
        waiting.delete(name);
      }),
    );
  } finally {
    timer.cancel();
  }
}
