import { controllerNames, leasesOf } from "@millwright/core/machine-api";
import { Registry } from "prom-client";
import { measureClockSkew } from "../metrics/clock-skew.ts";
import { attachShadow, type AttachedShadow } from "../shadow/shadow.ts";
import { createLeaderTerm, type LeaderTerm } from "./leader-term.ts";
import { createManagerCaches, type ManagerCaches } from "./manager-caches.ts";
import { connectClusters, type ManagerClusters } from "./manager-clusters.ts";
import { createManagerContext, type ManagerContext } from "./manager-context.ts";
import { createManagerControllers, type ManagerControllers } from "./manager-controllers.ts";
import { createManagerDrivers, type ManagerDrivers } from "./manager-drivers.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { createCurrentSettings, type CurrentSettings } from "./manager-settings.ts";
import { measureManager } from "./measure-manager.ts";
import { reportRewinds } from "./report-rewinds.ts";
import { createWriteFence, type WriteFence } from "./write-fence.ts";

/** The parts of a manager, wired and not started. */
export interface AssembledManager {
  readonly fence: WriteFence;
  readonly shadow: AttachedShadow;
  readonly clusters: ManagerClusters;
  readonly caches: ManagerCaches;
  readonly drivers: ManagerDrivers;
  readonly settings: CurrentSettings;
  readonly context: ManagerContext;
  readonly controllers: ManagerControllers;
  readonly term: LeaderTerm;
  /** The metrics of every process; those of the leader are in its term. */
  readonly registry: Registry;
  /** Ends the reports of API servers that went back to an earlier state. */
  readonly endRewinds: () => void;
}

const DEFAULT_WORKERS = 10;

/** Makes the parts of a manager, each from those before it. Nothing is read, written or started. */
export function assembleManager(options: ManagerOptions): AssembledManager {
  const { namespace, leadership, tracer, workers = DEFAULT_WORKERS, controllers: selected = controllerNames } = options;
  const leases = leasesOf(selected);

  // The clusters: clients that write only while this process may, and caches of their objects.
  const fence = createWriteFence(leadership);
  const shadow = attachShadow(options.shadow, namespace);
  const clusters = connectClusters(options, fence, shadow);
  const caches = createManagerCaches(clusters, namespace, options.targetCaches, shadow);

  // The drivers.
  const registry = new Registry();
  measureClockSkew(registry, clusters.serverTimes);
  const drivers = createManagerDrivers(options, clusters, fence, registry);
  const driver = shadow.driver(drivers.host);

  // The controllers, and what they share.
  const settings = createCurrentSettings(options.settings);
  const shared = { clusters, caches, drivers: drivers.all, driver, leases, settings, shadow, registry };
  const context = createManagerContext(options, shared);
  const { log } = clusters;
  const endRewinds = reportRewinds(clusters, { namespace, registry, events: context.events, log });
  const wrapOperations = shadow.wrapOperations(caches.control);
  const controllers = createManagerControllers(
    context,
    { driver, registry, settings, workers, wrapOperations },
    options,
  );

  // What this process does while it leads.
  const term = createLeaderTerm({
    context,
    leadership,
    clusters,
    caches,
    controllers,
    measuresObjects: selected.includes("machine"),
    settings,
    tracer,
  });
  measureManager(registry, {
    caches: { control: caches.control, target: caches.target },
    controllers: controllers.all,
    leadership,
    leases,
    isLeading: term.isLeading,
  });
  return { fence, shadow, clusters, caches, drivers, settings, context, controllers, term, registry, endRewinds };
}
