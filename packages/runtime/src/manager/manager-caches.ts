import {
  type CacheOptions,
  type ControlCaches,
  createControlCaches,
  createCrdGuard,
  createTargetCaches,
  type CrdGuard,
  type TargetCaches,
} from "@millwright/controllers";
import { machineResource } from "@millwright/core/machine-api";
import { checkHistory, nodeResource } from "@millwright/kube";
import type { AttachedShadow } from "../shadow/shadow.ts";
import type { ManagerClusters } from "./manager-clusters.ts";
import type { LeadersCaches } from "./take-lead.ts";

type AnyCache = ControlCaches[keyof ControlCaches] | TargetCaches[keyof TargetCaches];

/** What a manager knows of its clusters. Nothing is read before it runs. */
export interface ManagerCaches {
  readonly control: ControlCaches;
  /** Absent where there is no target cluster. */
  readonly target: TargetCaches | undefined;
  /** All caches, by the names in log lines. */
  readonly named: Readonly<Record<string, AnyCache>>;
  /** What has to be known before controllers start, by the names in log lines: the caches, and CRDs. */
  readonly awaited: Readonly<Record<string, Pick<CrdGuard, "synced" | "hasSynced">>>;
  /** What the manager runs itself: other caches run elsewhere, for several managers. */
  readonly own: readonly Pick<AnyCache, "run">[];
  /** Those that a process renews when it takes the lead. */
  readonly renewed: LeadersCaches;
  readonly crdGuard: CrdGuard;
}

/** The caches that the manager has to run. */
function withoutShared<Cache>(all: readonly Cache[], shared: TargetCaches | undefined): readonly Cache[] {
  const others = new Set<unknown>(Object.values(shared ?? {}));
  return all.filter((cache) => !others.has(cache));
}

/** The caches that a process renews when it takes the lead. */
const cachesToRenew = (
  control: ControlCaches,
  target: TargetCaches | undefined,
  hasOwnTarget: boolean,
): LeadersCaches =>
  hasOwnTarget
    ? { needed: { ...control }, ofTarget: { ...target } }
    : { needed: { ...control, ...target }, ofTarget: {} };

/** Makes the caches of one namespace, and the guard that follows deletions of CRDs. `shared`: caches of the target cluster that run elsewhere. */
export function createManagerCaches(
  { control: api, target: targetApi, hasOwnTarget, clock, random, log }: ManagerClusters,
  namespace: string,
  shared: TargetCaches | undefined,
  { cacheOptions }: Pick<AttachedShadow, "cacheOptions">,
): ManagerCaches {
  const common: Omit<CacheOptions, "api"> = { clock, random, log, ...cacheOptions };
  const control = createControlCaches({ api, namespace, ...common });
  const target = targetApi && (shared ?? createTargetCaches({ api: targetApi, ...common }));
  const guarded = [control.machines, control.sets, control.deployments];
  const crdGuard = createCrdGuard(
    { api, clock, random, log },
    guarded.map(({ store }) => store),
  );
  const named = { ...control, ...target };
  return {
    control,
    target,
    named,
    awaited: { ...named, customresourcedefinitions: crdGuard },
    own: [...withoutShared(Object.values(named), shared), crdGuard],
    renewed: cachesToRenew(control, target, hasOwnTarget),
    crdGuard,
  };
}

/**
 * Checks that an API server did not go back to an earlier state, where no lease is renewed, whose versions show that.
 *
 * @param isElected whether the Leases of this process in the control cluster are renewed
 */
export async function checkHistories(
  { control: api, target, hasOwnTarget, clock }: ManagerClusters,
  caches: Pick<ManagerCaches, "control" | "target">,
  { namespace, isElected }: { readonly namespace: string; readonly isElected: boolean },
  signal: AbortSignal,
): Promise<void> {
  const checks = [
    isElected ? undefined : { api, type: machineResource, scope: { namespace }, cache: caches.control.machines },
    target !== undefined && caches.target !== undefined && hasOwnTarget
      ? { api: target, type: nodeResource, cache: caches.target.nodes }
      : undefined,
  ].filter((check) => check !== undefined);
  await Promise.all(checks.map((check) => checkHistory({ ...check, clock }, signal)));
}
