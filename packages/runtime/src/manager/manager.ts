import type { Driver } from "@millwright/core";
import { createFleetReader, type FleetReader } from "../fleet/fleet-reader.ts";
import { type MetricParts, readRegistry, textOfParts } from "../metrics/metric-parts.ts";
import type { ManagerVitals } from "../watchdog/watchdog.ts";
import { type AssembledManager, assembleManager } from "./assemble-manager.ts";
import { checkHistories } from "./manager-caches.ts";
import type { ManagerOptions, ManagerSettings } from "./manager-options.ts";
import { readManagerVitals } from "./manager-vitals.ts";
import { reportClockSkew } from "./report-clock-skew.ts";
import { reportReadiness } from "./report-readiness.ts";
import { type EndSignals, runParts, untilLost } from "./run-parts.ts";

/** The controllers of one installation. */
export interface Manager {
  /**
   * Runs until the signal aborts. Then all reconciles end, machines that are being deleted become Terminating, driver calls in flight are aborted, and it resolves. After 10 s nothing is written any more, whatever is still in flight. All state is in
   * the API objects: the next process continues from them. Rejects when a cache or controller fails permanently, and with `LeadershipLostError` when leadership ends: the next leader
   * continues then. May be called once.
   */
  start(signal: AbortSignal): Promise<void>;
  /**
   * Adds a driver that was not there at the start: its machines are reconciled now.
   *
   * @throws ConfigError when there is one of its name
   */
  addDriver(driver: Driver): void;
  /** Changes settings while it runs. All machines are reconciled with them; what is in progress ends with the former ones. */
  reconfigure(change: ManagerSettings): void;
  /** Resolves when all caches have their first list and controllers start. */
  ready(signal: AbortSignal): Promise<void>;
  /** What runs, and how the caches are, for the watchdog. */
  vitals(): ManagerVitals;
  /** The machines as the controllers know them, one reader for each namespace. */
  fleets(): readonly FleetReader[];
  /** The metrics, in Prometheus' text format. Only the leader has metrics of objects. */
  metrics(): Promise<string>;
  /** The same in parts, between which the event loop runs: large fleets have many megabytes. */
  metricParts(): MetricParts;
}

/** Starts what runs beside the controllers, whether this process leads or not. */
function startOthers(
  { clusters, caches, shadow, context, term }: AssembledManager,
  { namespace, leadership }: ManagerOptions,
  { stopping, stopped }: EndSignals,
): readonly Promise<void>[] {
  const { serverTimes, clock, log } = clusters;
  const { events } = context;
  const { isLeading } = term;
  const isElected = leadership !== undefined;
  return [
    // Caches follow until the last controller has stopped.
    ...caches.own.map((informer) => informer.run(stopped)),
    shadow.follow(caches.control, stopped),
    ...(leadership === undefined ? [] : [untilLost(leadership.lost, stopping)]),
    checkHistories(clusters, caches, { namespace, isElected }, stopped),
    reportReadiness(caches.awaited, clock, log, stopping),
    reportClockSkew(serverTimes, clock, { namespace, events, log, isLeading }, stopping),
  ];
}

/** Wires caches, controllers and drivers into one manager. */
export function createManager(options: ManagerOptions): Manager {
  const { namespace } = options;
  const manager = assembleManager(options);
  const { fence, clusters, caches, drivers, settings, context, controllers, term, registry } = manager;
  const { clock, log } = clusters;
  const keyOf = (name: string): string => `${namespace}/${name}`;
  const recheckMachines = (): void => {
    for (const { metadata } of caches.control.machines.store.list(namespace))
      controllers.recheckMachine(keyOf(metadata.name));
  };
  async function* readParts(): AsyncGenerator<string> {
    yield* readRegistry(registry, { clock });
    yield* term.metricParts();
  }
  let isStarted = false;

  return {
    async start(signal) {
      if (isStarted) throw new Error("the manager was started before");
      isStarted = true;
      await runParts(
        {
          // Controllers wait for the leadership, and act while this process has it.
          runControllers: ({ stopping, stopped }) => term.run(stopping, stopped),
          startOthers: (ends) => startOthers(manager, options, ends),
          close: () => controllers.close(),
          onEnd: manager.endRewinds,
          events: context.events,
          fence,
          clock,
          log,
        },
        signal,
      );
    },
    addDriver(added) {
      drivers.add(added);
      for (const { metadata } of caches.control.classes.store.list(namespace))
        controllers.recheckClass(keyOf(metadata.name));
      recheckMachines();
    },
    reconfigure(change) {
      settings.change(change.settings);
      controllers.setMargins(change.overshootMargins ?? {});
      if (change.maxDeletionShare !== undefined) context.deletionBudget.setShare(change.maxDeletionShare);
      controllers.limitsChanged();
      // Times that were computed from the former settings may be too late.
      recheckMachines();
    },
    async ready(signal) {
      await Promise.all(Object.values(caches.named).map((informer) => informer.synced(signal)));
    },
    vitals() {
      return readManagerVitals({
        caches: caches.named,
        awaited: caches.awaited,
        controllers: controllers.all,
        running: drivers.running,
      });
    },
    fleets() {
      const { control, target, localClock } = clusters;
      const ended = drivers.endedCalls();
      const { running } = drivers;
      const read = { namespace, caches: caches.control, targetCaches: caches.target, control, target };
      return [createFleetReader({ ...read, running, ended, clock: localClock })];
    },
    metrics: () => textOfParts(readParts()),
    metricParts: readParts,
  };
}
