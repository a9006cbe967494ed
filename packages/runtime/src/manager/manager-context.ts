import {
  type ControllerContext,
  type CrdGuard,
  createClassChecks,
  createDeletionBudget,
  type DeletionBudget,
} from "@millwright/controllers";
import type { Driver } from "@millwright/core";
import type { LeaseName } from "@millwright/core/machine-api";
import { createEventRecorder, type EventRecorder, serverClock } from "@millwright/kube";
import type { Registry } from "prom-client";
import type { DriverHost } from "../drivers/driver-host.ts";
import { createMatchVm } from "../drivers/match-vm.ts";
import { countRefusedWrites } from "../metrics/refused-writes.ts";
import { routeEvents } from "./route-events.ts";
import type { AttachedShadow } from "../shadow/shadow.ts";
import type { ManagerCaches } from "./manager-caches.ts";
import type { ManagerClusters } from "./manager-clusters.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { CurrentSettings } from "./manager-settings.ts";

/** What the controllers of a manager share. */
export interface ManagerContext extends ControllerContext {
  readonly crdGuard: CrdGuard;
  readonly deletionBudget: DeletionBudget;
}

/** What a context is made of. */
export interface ContextParts {
  readonly clusters: ManagerClusters;
  readonly caches: ManagerCaches;
  readonly drivers: readonly Driver[];
  readonly driver: DriverHost;
  readonly leases: readonly LeaseName[];
  readonly settings: Pick<CurrentSettings, "current">;
  readonly shadow: Pick<AttachedShadow, "log">;
  readonly registry: Registry;
}

/** The target cluster of the controllers; none where machines are VMs and nothing more. */
function targetContext(
  { target: api, hasOwnTarget: isSeparate, localClock }: ManagerClusters,
  { target: caches }: Pick<ManagerCaches, "target">,
): Pick<ControllerContext, "target"> {
  if (api === undefined || caches === undefined) return {};
  return { target: { api, caches, isSeparate, clock: serverClock(localClock, api.serverTime) } };
}

/** The process of sets and deployments has no drivers: that of machines checks classes. */
const classChecksOf = (leases: readonly LeaseName[], driver: DriverHost): Pick<ControllerContext, "classChecks"> =>
  leases.includes("machine-controller") ? { classChecks: createClassChecks(driver) } : {};

/** Makes what the controllers share, with the recorder of events and the budget of deletions. */
export function createManagerContext(
  { namespace, maxDeletionShare, clusterApiConditions = true }: ManagerOptions,
  { clusters, caches, drivers, driver, leases, settings, shadow, registry }: ContextParts,
): ManagerContext {
  const { control, target, hasOwnTarget, clock, random, log } = clusters;
  const normalEvents = { burst: 100, perSecond: 5 };
  const recorderOf = (api: ManagerClusters["control"]): EventRecorder =>
    createEventRecorder({ api, component: "millwright", clock, random, log, normalEvents });
  return {
    namespace,
    control,
    caches: caches.control,
    ...targetContext(clusters, caches),
    matchVm: createMatchVm(drivers, log),
    ...classChecksOf(leases, driver),
    crdGuard: caches.crdGuard,
    deletionBudget: createDeletionBudget({ caches: caches.control, namespace, clock, maxDeletionShare }),
    events:
      target === undefined || !hasOwnTarget
        ? recorderOf(control)
        : routeEvents(recorderOf(control), recorderOf(target)),
    onRefusedWrite: countRefusedWrites(registry, namespace),
    clock,
    random,
    log: shadow.log(log),
    conditions: {
      clusterApi: clusterApiConditions,
      get settings() {
        return settings.current();
      },
    },
  };
}
