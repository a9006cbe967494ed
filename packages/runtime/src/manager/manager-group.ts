import { createTargetCaches } from "@millwright/controllers";
import { systemClock, systemRandom } from "@millwright/base";
import { createManager, type Manager } from "./manager.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { textOfParts } from "../metrics/metric-parts.ts";
import { mergeMetrics } from "../metrics/merge-metrics.ts";
import type { ManagerVitals } from "../watchdog/watchdog.ts";

/** How the managers of several namespaces run in one process. */
export interface ManagerGroupOptions extends Omit<ManagerOptions, "namespace" | "leadership" | "targetCaches"> {
  /** At least one. */
  readonly namespaces: readonly string[];
  /** The leadership over a namespace: each has Leases of its own. Default: no leader election. */
  readonly leadershipOf?: (namespace: string) => ManagerOptions["leadership"];
}

/** What is one in the process is shown once, by its name; the rest with its namespace. */
function mergeVitals(all: readonly (readonly [string, ManagerVitals])[], shared: ReadonlySet<string>): ManagerVitals {
  const named = (namespace: string, name: string): string => (shared.has(name) ? name : `${namespace}/${name}`);
  const caches = all.flatMap(([namespace, vitals]) =>
    vitals.caches.map((cache) => ({ ...cache, name: named(namespace, cache.name) })),
  );
  return {
    unsynced: [...new Set(all.flatMap(([namespace, { unsynced }]) => unsynced.map((name) => named(namespace, name))))],
    caches: [...new Map(caches.map((cache) => [cache.name, cache])).values()],
    operations: all.flatMap(([, { operations }]) => operations),
  };
}

/**
 * Makes one manager per namespace, which lead independently of each other, and lets them appear as one. They share drivers, clients and the caches
 * of the target cluster. When one ends, all stop: with an error if it failed or its leadership ended.
 */
export function createManagerGroup({ namespaces, leadershipOf, ...options }: ManagerGroupOptions): Manager {
  const createFor = (namespace: string, more: Partial<ManagerOptions> = {}): Manager => {
    const leadership = leadershipOf?.(namespace);
    return createManager({ ...options, namespace, ...(leadership === undefined ? {} : { leadership }), ...more });
  };
  const [first, ...others] = namespaces;
  if (first !== undefined && others.length === 0) return createFor(first);

  const { target: api, clock = systemClock, random = systemRandom, log } = options;
  const logging = log === undefined ? {} : { log };
  const targetCaches = api === undefined ? undefined : createTargetCaches({ api, clock, random, ...logging });
  const managers = namespaces.map((namespace): readonly [string, Manager] => {
    const more: Partial<ManagerOptions> = {
      ownsUnmarkedVms: false,
      ...(targetCaches === undefined ? {} : { targetCaches }),
      ...(log === undefined ? {} : { log: (level, message, fields) => log(level, message, { namespace, ...fields }) }),
    };
    return [namespace, createFor(namespace, more)];
  });
  const shared = new Set(Object.keys(targetCaches ?? {}));

  const readParts = (): AsyncGenerator<string> =>
    mergeMetrics(new Map(managers.map(([namespace, manager]) => [namespace, manager.metricParts()])), { clock });

  return {
    vitals: () =>
      mergeVitals(
        managers.map(([namespace, manager]) => [namespace, manager.vitals()]),
        shared,
      ),
    fleets: () => managers.flatMap(([, manager]) => manager.fleets()),
    addDriver(driver) {
      for (const [, manager] of managers) manager.addDriver(driver);
    },
    reconfigure(change) {
      for (const [, manager] of managers) manager.reconfigure(change);
    },
    metrics: () => textOfParts(readParts()),
    metricParts: readParts,
    async ready(signal) {
      await Promise.all(managers.map(([, manager]) => manager.ready(signal)));
    },
    async start(signal) {
      const failed = new AbortController();
      const stopped = new AbortController();
      const either = AbortSignal.any([signal, failed.signal]);
      const follow = (part: Promise<void>): Promise<void> => part.catch((error: unknown) => failed.abort(error));
      // Caches follow until the last controller has stopped.
      const caches = Object.values(targetCaches ?? {}).map((informer) => follow(informer.run(stopped.signal)));
      await Promise.all(managers.map(([, manager]) => follow(manager.start(either))));
      stopped.abort(new Error("all managers have stopped"));
      await Promise.all(caches);
      failed.signal.throwIfAborted();
    },
  };
}
