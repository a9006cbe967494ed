import {
  type CacheOptions,
  type ControlCaches,
  type ControllerContext,
  createClassChecks,
  createControlCaches,
  createCrdGuard,
  createDeletionBudget,
  createTargetCaches,
  defaultMachineSettings,
  type MachineSettings,
  type OvershootMargins,
  type TargetCaches,
} from "@millwright/controllers";
import {
  type Clock,
  ConfigError,
  controllerNames,
  type Driver,
  isDriverFor,
  type LeaseName,
  leasesOf,
  machineResource,
  type Random,
  systemClock,
  systemRandom,
  type Timer,
} from "@millwright/core";
import {
  type ApiClient,
  checkHistory,
  createEventRecorder,
  createFencedClient,
  type Leadership,
  type Log,
  nodeResource,
  noLog,
  serverClock,
} from "@millwright/kube";
import { Registry } from "prom-client";
import { createMatchVm } from "../drivers/match-vm.ts";
import { createDriverHost, type DriverHost } from "../drivers/driver-host.ts";
import { createRunningCalls } from "../drivers/running-calls.ts";
import { strayErrorCounts } from "../drivers/stray-errors.ts";
import { createEndedCalls, type EndedCalls } from "../fleet/ended-calls.ts";
import { createFleetReader, type FleetReader } from "../fleet/fleet-reader.ts";
import { createDriverMetrics } from "../metrics/driver-metrics.ts";
import type { MachineTracer } from "./machine-tracer.ts";
import { createLeaderMetrics, type LeaderMetrics } from "../metrics/leader-metrics.ts";
import type { CloudRecorder } from "../recording/cloud-recorder.ts";
import { measureManager } from "./measure-manager.ts";
import { type MetricParts, readRegistry, textOfParts } from "../metrics/metric-parts.ts";
import { measureClockSkew } from "../metrics/clock-skew.ts";
import { createManagerControllers, type ManagerControllersOptions } from "./manager-controllers.ts";
import { reportClockSkew } from "./report-clock-skew.ts";
import { reportRewinds } from "./report-rewinds.ts";
import { reportReadiness } from "./report-readiness.ts";
import { type LeadersCaches, takeLead } from "./take-lead.ts";
import { readManagerVitals } from "./manager-vitals.ts";
import { attachShadow, type Shadow } from "../shadow/shadow.ts";
import type { ManagerVitals } from "../watchdog/watchdog.ts";

/** How a manager runs. */
export interface ManagerOptions extends ManagerControllersOptions {
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** The cluster that machines join; absent: machines are VMs and nothing more. May be the same client as `control`. */
  readonly target?: ApiClient;
  /** Caches of the target cluster that run elsewhere, for several managers. Default: the manager has and runs its own. */
  readonly targetCaches?: TargetCaches;
  /** The namespace of the control cluster that is managed. */
  readonly namespace: string;
  /** None are needed where no controller of machines runs. */
  readonly drivers: readonly Driver[];
  /** The leadership that is required to act. Caches are filled before, so that a failover is quick. Absent: no leader election. */
  readonly leadership?: Pick<Leadership, "acquired" | "fence" | "lost">;
  /** Default: `defaultMachineSettings`. */
  readonly settings?: Partial<MachineSettings>;
  /** Whether sets and deployments carry Cluster API's conditions next to MCM's; `false` removes existing ones. Default: true. */
  readonly clusterApiConditions?: boolean;
  /** Share of the machines of a deployment, and of the namespace, that may be deleted within an hour without approval, 0 to 1; 0: no share limits deletions. Default 0.5. */
  readonly maxDeletionShare?: number;
  /** Records what drivers send to their clouds. Default: nothing is recorded. */
  readonly recorder?: Pick<CloudRecorder, "protect" | "record">;
  /** Called before each call of a driver, with its name: the call may block the event loop. Default: nothing is called. */
  readonly onDriverCall?: (what: string) => void;
  /** Decides beside another manager, and changes nothing. Needs no leadership. Default: decisions are carried out. */
  readonly shadow?: Pick<Shadow, "attach">;
  /** Follows the machines while this process leads. Default: nothing does. */
  readonly tracer?: MachineTracer;
  /** Concurrent reconciles of one kind. Default 10. */
  readonly workers?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: nothing is written. */
  readonly log?: Log;
}

/** Settings that can change while a manager runs. */
export interface ManagerSettings {
  readonly settings?: Partial<ReloadableSettings>;
  readonly overshootMargins?: Partial<OvershootMargins>;
  /** As in {@link ManagerOptions}. */
  readonly maxDeletionShare?: number;
}

/** Settings that every reconcile reads. The others are read once. */
export type ReloadableSettings = Omit<
  MachineSettings,
  "unreachableAfterMs" | "bootstrapTokenExtraGroups" | "flapWindowMs"
>;

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

const DEFAULT_WORKERS = 10;

/** How long controllers may take to stop, milliseconds. With the events and the leases, all of it ends within Kubernetes' 30 s. */
const STOP_MS = 10_000;

/** How long pending events may take at the end, milliseconds. */
const FLUSH_MS = 2_000;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Rejects when leadership ends, and resolves when the signal aborts before that. */
const untilLost = (lost: AbortSignal, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const lose = (): void => reject(lost.reason);
    if (lost.aborted) return lose();
    // SIGTERM may have come before the manager was started.
    if (signal.aborted) return resolve();
    lost.addEventListener("abort", lose, { once: true });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** The caches that run elsewhere, or new ones. */
const targetCachesFor = (options: CacheOptions, shared: TargetCaches | undefined): TargetCaches =>
  shared ?? createTargetCaches(options);

/** The caches that the manager has to run. */
function withoutShared<Cache>(all: readonly Cache[], shared: TargetCaches | undefined): readonly Cache[] {
  const others = new Set<unknown>(Object.values(shared ?? {}));
  return all.filter((cache) => !others.has(cache));
}

/** The target cluster of the controllers; none where machines are VMs and nothing more. */
const targetContext = (
  api: ApiClient | undefined,
  caches: TargetCaches | undefined,
  isSeparate: boolean,
  localClock: Clock,
): Pick<ControllerContext, "target"> =>
  api === undefined || caches === undefined
    ? {}
    : { target: { api, caches, isSeparate, clock: serverClock(localClock, api.serverTime) } };

/** The caches that a process renews when it takes the lead. */
const cachesToRenew = (
  control: ControlCaches,
  target: TargetCaches | undefined,
  hasOwnTarget: boolean,
): LeadersCaches =>
  hasOwnTarget
    ? { needed: { ...control }, ofTarget: { ...target } }
    : { needed: { ...control, ...target }, ofTarget: {} };

/** The process of sets and deployments has no drivers: that of machines checks classes. */
const classChecksOf = (leases: readonly LeaseName[], driver: DriverHost): Pick<ControllerContext, "classChecks"> =>
  leases.includes("machine-controller") ? { classChecks: createClassChecks(driver) } : {};

/** Wires caches, controllers and drivers into one manager. */
export function createManager(options: ManagerOptions): Manager {
  const { namespace, leadership, maxDeletionShare, tracer, controllers: selected = controllerNames } = options;
  /** Aborts when stopping takes too long: then nothing is written any more. */
  const overdue = new AbortController();
  const lost = leadership === undefined ? overdue.signal : AbortSignal.any([overdue.signal, leadership.lost]);
  const fence = (): void => {
    overdue.signal.throwIfAborted();
    leadership?.fence();
  };
  const shadow = attachShadow(options.shadow, namespace);
  const fenced = (api: ApiClient): ApiClient => shadow.client(createFencedClient(api, { fence, lost }));
  const control = fenced(options.control);
  const target = options.target === undefined ? undefined : fenced(options.target);
  const localClock = options.clock ?? systemClock;
  const clock = serverClock(localClock, control.serverTime);
  const random = options.random ?? systemRandom;
  const log = options.log ?? noLog;
  const workers = options.workers ?? DEFAULT_WORKERS;

  // Reconciles read it through this reference; reconfigure() changes it between them.
  const settings = { ...defaultMachineSettings, ...options.settings };
  /** The same for conditions, whose results are kept for as long as it is the same object. */
  let conditionSettings = { ...settings };
  const normalEvents = { burst: 100, perSecond: 5 };
  const events = createEventRecorder({ api: control, component: "millwright", clock, random, log, normalEvents });
  const caches = createControlCaches({ api: control, clock, random, log, namespace, ...shadow.cacheOptions });
  const targetCaches =
    target && targetCachesFor({ api: target, clock, random, log, ...shadow.cacheOptions }, options.targetCaches);
  const guarded = [caches.machines, caches.sets, caches.deployments];
  const crdGuard = createCrdGuard(
    { api: control, clock, random, log },
    guarded.map(({ store }) => store),
  );
  const deletionBudget = createDeletionBudget({
    caches,
    namespace,
    clock,
    maxDeletionShare,
  });
  const hasOwnTarget = options.target !== options.control;
  const serverTimes = { control: control.serverTime, ...(hasOwnTarget ? { target: target?.serverTime } : {}) };
  const registry = new Registry();
  measureClockSkew(registry, serverTimes);
  const running = createRunningCalls(localClock, options.onDriverCall);
  /** Kept from the first call of fleets() on. */
  let ended: EndedCalls | undefined;
  const drivers = [...options.drivers];
  const host = createDriverHost({
    drivers,
    running,
    metrics: createDriverMetrics(
      registry,
      strayErrorCounts,
      options.drivers.map(({ name }) => name),
    ),
    // Clouds sign and expire requests by true time, which the local clock is meant to have.
    clock: localClock,
    log,
    fence,
    onEnd(call) {
      ended?.add(call, clock.now());
      tracer?.called(call, clock.now().getTime());
    },
    ...(options.recorder === undefined ? {} : { recorder: options.recorder }),
  });
  const driver = shadow.driver(host);
  const leases = leasesOf(selected);
  const context: ControllerContext = {
    namespace,
    control,
    caches,
    ...targetContext(target, targetCaches, hasOwnTarget, localClock),
    matchVm: createMatchVm(drivers, log),
    ...classChecksOf(leases, driver),
    crdGuard,
    deletionBudget,
    events,
    clock,
    random,
    log: shadow.log(log),
    conditions: {
      clusterApi: options.clusterApiConditions ?? true,
      get settings() {
        return conditionSettings;
      },
    },
  };
  const endRewinds = reportRewinds({ control, target }, { namespace, registry, events, log });
  const controllers = createManagerControllers(
    context,
    { driver, registry, settings, workers, wrapOperations: shadow.wrapOperations(caches) },
    options,
  );
  measureManager(registry, {
    caches: { control: caches, target: targetCaches },
    controllers: controllers.all,
    leadership,
    leases,
    isLeading: () => leaderMetrics !== undefined,
  });
  const keyOf = (name: string): string => `${namespace}/${name}`;
  const named = { ...caches, ...targetCaches };
  const renewed = cachesToRenew(caches, targetCaches, hasOwnTarget);
  const informers = Object.values(named);
  const ownInformers = withoutShared(informers, options.targetCaches);
  const readVitals = (): ManagerVitals =>
    readManagerVitals({ caches: named, crdGuard, controllers: controllers.all, running });

  /** Where no lease is renewed, whose versions show that an API server went back. */
  const checkHistories = async (signal: AbortSignal): Promise<void> => {
    const checks = [
      leadership === undefined
        ? { api: control, type: machineResource, scope: { namespace }, cache: caches.machines }
        : undefined,
      target !== undefined && targetCaches !== undefined && hasOwnTarget
        ? { api: target, type: nodeResource, cache: targetCaches.nodes }
        : undefined,
    ].filter((check) => check !== undefined);
    await Promise.all(checks.map((check) => checkHistory({ ...check, clock }, signal)));
  };

  const flushEvents = async (): Promise<void> => {
    const late = new AbortController();
    const timer = clock.setTimer(FLUSH_MS, () => late.abort(new Error("the events took too long")));
    await events.flush(late.signal).catch(() => undefined);
    timer.cancel();
    events.close();
  };
  /**
   * Controllers act when this process leads, from the caches that are there by then. Machines are handed over when all reconciles have ended, so that nothing
   * is deleted after that; not after a failure of another part.
   */
  const runControllers = async (signal: AbortSignal, failed: AbortSignal): Promise<void> => {
    try {
      const takeOver = { clock: localClock, log, unreachableAfterMs: settings.unreachableAfterMs };
      if (leadership !== undefined) await takeLead(leadership, renewed, takeOver, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      return;
    }
    const metrics = createLeaderMetrics({
      namespace,
      caches,
      crdGuard,
      deletionBudget,
      guards: controllers.guards,
      // Of two processes that each run a part of the controllers, one measures.
      measuresObjects: selected.includes("machine"),
      clock,
    });
    leaderMetrics = metrics;
    const endTracing =
      tracer &&
      caches.machines.store.subscribe((old, current) => tracer.changed(old, current, clock.now().getTime()), {
        replay: true,
      });
    try {
      await Promise.all(controllers.all.map((controller) => controller.start(signal)));
      if (!failed.aborted) await controllers.handOver();
    } finally {
      endTracing?.();
      metrics.end();
      leaderMetrics = undefined;
    }
  };
  async function* readParts(): AsyncGenerator<string> {
    yield* readRegistry(registry, { clock });
    if (leaderMetrics !== undefined) yield* leaderMetrics.parts();
  }

  let isStarted = false;
  /** There while this process leads and runs. */
  let leaderMetrics: LeaderMetrics | undefined;

  return {
    vitals: readVitals,
    fleets() {
      ended ??= createEndedCalls();
      const read = { namespace, caches, targetCaches, control, target, running, ended, clock: localClock };
      return [createFleetReader(read)];
    },
    addDriver(added) {
      if (drivers.some((each) => isDriverFor(each, added.name)))
        throw new ConfigError(`two drivers have the name "${added.name}": name one of them with --provider`);
      drivers.push(added);
      for (const { metadata } of caches.classes.store.list(namespace)) controllers.recheckClass(keyOf(metadata.name));
      for (const { metadata } of caches.machines.store.list(namespace))
        controllers.recheckMachine(keyOf(metadata.name));
    },
    reconfigure(change) {
      Object.assign(settings, change.settings);
      conditionSettings = { ...settings };
      controllers.setMargins(change.overshootMargins ?? {});
      if (change.maxDeletionShare !== undefined) deletionBudget.setShare(change.maxDeletionShare);
      controllers.limitsChanged();
      // Times that were computed from the former settings may be too late.
      for (const { metadata } of caches.machines.store.list(namespace))
        controllers.recheckMachine(keyOf(metadata.name));
    },
    metrics: () => textOfParts(readParts()),
    metricParts: readParts,
    async ready(signal) {
      await Promise.all(informers.map((informer) => informer.synced(signal)));
    },
    async start(signal) {
      if (isStarted) throw new Error("the manager was started before");
      isStarted = true;
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      let timer: Timer | undefined;
      const expire = (): void => {
        log("warn", "Stopping takes too long: nothing is written any more", { timeoutMs: STOP_MS });
        overdue.abort(new Error("stopping takes too long"));
      };
      signal.addEventListener("abort", () => (timer = clock.setTimer(STOP_MS, expire)), { once: true });
      const controllersEnded = runControllers(both, stop.signal).then(() => stop.abort(new Error("stopped")));
      const parts = [
        // Caches follow until the last controller has stopped.
        ...ownInformers.map((informer) => informer.run(stop.signal)),
        crdGuard.run(stop.signal),
        shadow.follow(caches, stop.signal),
        controllersEnded,
        ...(leadership === undefined ? [] : [untilLost(leadership.lost, both)]),
        checkHistories(stop.signal),
        reportReadiness({ ...named, customresourcedefinitions: crdGuard }, clock, log, both),
        reportClockSkew(
          serverTimes,
          clock,
          { namespace, events, log, isLeading: () => leaderMetrics !== undefined },
          both,
        ),
      ];
      try {
        await Promise.race([Promise.all(parts), aborted(overdue.signal)]);
      } finally {
        // One part that failed takes the others with it: half a manager would be worse than none.
        stop.abort(new Error("another part of the manager failed"));
        await controllers.close();
        await Promise.race([Promise.allSettled(parts), aborted(overdue.signal)]);
        timer?.cancel();
        endRewinds();
        await flushEvents();
      }
    },
  };
}
