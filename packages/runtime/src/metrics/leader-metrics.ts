import type { ControlCaches, CrdGuard, DeletionBudget, Guard } from "@millwright/controllers";
import type { Clock } from "@millwright/base";
import type { Machine } from "@millwright/core/machine-api";
import { Registry } from "prom-client";
import { countFlow } from "./count-flow.ts";
import { measureDeletions } from "./deletions.ts";
import {
  measureHeldObjects,
  measureOrphanVms,
  measurePausedDeletions,
  measureProtectedDeletions,
  measureUnreadableObjects,
} from "./fleet-gauges.ts";
import { measureFleet } from "./measure-fleet.ts";
import { joinPieces, type MetricParts, readRegistry } from "./metric-parts.ts";

/** The metrics of objects and of what happens to them. */
export interface LeaderMetrics {
  /** What there is at the moment and what was counted. */
  parts(): MetricParts;
  /** Counts nothing from now on. */
  end(): void;
}

/** Makes what only the process that leads measures and counts: sums over several would have everything twice. It counts from now on. */
export function createLeaderMetrics({
  namespace,
  caches,
  crdGuard,
  deletionBudget,
  guards = [],
  measuresObjects = true,
  clock,
}: {
  readonly namespace: string;
  readonly caches: Pick<ControlCaches, "machines" | "sets" | "deployments" | "classes">;
  readonly crdGuard: Pick<CrdGuard, "deletionVerdictOf">;
  readonly deletionBudget: Pick<DeletionBudget, "heldByCause" | "begunByCause" | "rooms">;
  /** Those of Machines, in their order. Default: none, as in a process without the controller of machines. */
  readonly guards?: readonly Guard<Machine>[];
  /** `false` where another process measures the objects. Default: true. */
  readonly measuresObjects?: boolean;
  readonly clock: Clock;
}): LeaderMetrics {
  const registry = new Registry();
  measureDeletions(registry, namespace, deletionBudget);
  if (!measuresObjects) return { parts: () => readRegistry(registry, { clock }), end: () => undefined };
  measureHeldObjects(registry, namespace, guards, caches);
  measurePausedDeletions(registry, namespace, crdGuard, caches);
  measureProtectedDeletions(registry, namespace, caches);
  measureUnreadableObjects(registry, namespace, caches);
  measureOrphanVms(registry, namespace, caches);
  const writeFleet = measureFleet(registry, caches);
  const end = countFlow(registry, caches, clock);
  return {
    async *parts() {
      yield* joinPieces(writeFleet(), { clock });
      yield* readRegistry(registry, { clock });
    },
    end,
  };
}
