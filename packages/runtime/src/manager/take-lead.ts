import type { Clock } from "@millwright/base";
import { type Leadership, type Log, type Reflector, unlessUnreachable } from "@millwright/kube";

/** Interval of the log line of a leader that does not act yet, milliseconds. */
const REMINDER_MS = 10_000;

/** Caches by name, which are the kinds in the log. */
export interface LeadersCaches {
  readonly needed: Readonly<Record<string, Pick<Reflector, "renew">>>;
  /** Of another cluster than that of the machines. While its API server is unreachable, a leader acts by what it knows of it: so does one that takes the lead then. */
  readonly ofTarget: Readonly<Record<string, Pick<Reflector, "renew" | "connectivity">>>;
}

/** What {@link takeLead} works with. */
export interface TakeLeadOptions {
  readonly clock: Pick<Clock, "setTimer">;
  readonly log: Log;
  /** After this time without a response an API server counts as unreachable, milliseconds. */
  readonly unreachableAfterMs: number;
}

/**
 * Waits until this process leads, and its caches are as the server is then. A standby does not know what the leader before it did last, if its watches are late: it would do it again. Until all are there,
 * a log line every ten seconds names those that are not. Those of an unreachable target cluster are renewed later.
 *
 * @throws the reason of the signal when that aborts
 */
export async function takeLead(
  { acquired }: Pick<Leadership, "acquired">,
  { needed, ofTarget }: LeadersCaches,
  { clock, log, unreachableAfterMs }: TakeLeadOptions,
  signal: AbortSignal,
): Promise<void> {
  await acquired(signal);
  const waiting = new Set([...Object.keys(needed), ...Object.keys(ofTarget)]);
  const remind = () =>
    clock.setTimer(REMINDER_MS, () => {
      log("warn", "Waiting for a new list of some kinds before this leader acts", { kinds: [...waiting] });
      timer = remind();
    });
  let timer = remind();
  const renew = async (name: string, cache: Pick<Reflector, "renew">): Promise<void> => {
    await cache.renew(signal);
    waiting.delete(name);
  };
  try {
    await Promise.all([
      ...Object.entries(needed).map(([name, cache]) => renew(name, cache)),
      ...Object.entries(ofTarget).map(([name, cache]) =>
        unlessUnreachable(renew(name, cache), cache.connectivity, unreachableAfterMs),
      ),
    ]);
    if (waiting.size > 0)
      log("warn", "Leading without a new list of some kinds: the target API server is unreachable", {
        kinds: [...waiting],
      });
  } finally {
    timer.cancel();
  }
}
