import type { Controller, Informer, KubeObject } from "@millwright/kube";
import { DEFAULT_CALL_TIMEOUT_MS } from "../drivers/driver-host.ts";
import type { RunningCalls } from "../drivers/running-calls.ts";
import type { RunningOperation } from "../watchdog/decide-watchdog.ts";
import type { ManagerVitals } from "../watchdog/watchdog.ts";

type Cache = Pick<Informer<KubeObject>, "hasSynced" | "connectivity" | "silentForMs"> & {
  readonly store: { readonly size: number };
};

/** Reads what runs in a manager, and how its caches are. */
export function readManagerVitals({
  caches,
  awaited,
  controllers,
  running,
}: {
  readonly caches: Readonly<Record<string, Cache>>;
  readonly awaited: Readonly<Record<string, Pick<Cache, "hasSynced">>>;
  readonly controllers: readonly Pick<Controller, "name" | "queue" | "timeoutMs">[];
  readonly running: Pick<RunningCalls, "list">;
}): ManagerVitals {
  const all = Object.entries(caches);
  const calls = running
    .list()
    .map(({ what, ms }): RunningOperation => ({ kind: "driver call", what, ms, deadlineMs: DEFAULT_CALL_TIMEOUT_MS }));
  const reconciles = controllers.flatMap(({ name, queue, timeoutMs }) =>
    queue.inProgress().map(({ key, ms }): RunningOperation => ({
      kind: "reconcile",
      what: `${key} of ${name}`,
      ms,
      deadlineMs: timeoutMs,
    })),
  );
  return {
    unsynced: Object.entries(awaited).flatMap(([name, cache]) => (cache.hasSynced() ? [] : [name])),
    caches: all
      .filter(([, cache]) => cache.hasSynced())
      .map(([name, { connectivity, silentForMs, store }]) => ({
        name,
        objects: store.size,
        lostForMs: connectivity.lostForMs(),
        silentForMs: silentForMs(),
      })),
    operations: [...calls, ...reconciles],
  };
}
