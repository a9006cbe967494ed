import type { Clock } from "@millwright/base";
import type { Log } from "@millwright/kube";

/** A cache as far as its readiness goes. */
export interface Syncing {
  hasSynced(): boolean;
  synced(signal?: AbortSignal): Promise<void>;
}

/** Interval of the log line of a manager that is not ready, milliseconds. */
const REMINDER_MS = 10_000;

/**
 * Logs when all caches have their first list, and until then, every ten seconds, which have not: an API server that cannot be reached, a kind that it does
 * not serve or a permission that is missing would else look like a manager with nothing to do. Resolves when all are there or the signal aborts; never rejects.
 */
export async function reportReadiness(
  caches: Readonly<Record<string, Syncing>>,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const ready = Promise.all(Object.values(caches).map((cache) => cache.synced(signal))).then(
    () => true,
    () => true,
  );
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const wait = (): Promise<boolean> =>
    clock.sleep(REMINDER_MS, either).then(
      () => false,
      () => true,
    );
  while (!(await Promise.race([ready, wait()]))) {
    const missing = Object.entries(caches).filter(([, cache]) => !cache.hasSynced());
    log("warn", "Waiting for the first list of some kinds", { kinds: missing.map(([name]) => name) });
  }
  done.abort(new Error("the caches are ready"));
  if (!signal.aborted) log("info", "Ready", {});
}
