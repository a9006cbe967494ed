import type { ControllerContext } from "../cluster/context.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { expectedReplicasOf } from "../machine-set/expected-replicas.ts";
import { isTerminatingOrDeleted } from "../model/crd-state.ts";
import type { MachineListFacts } from "./find-doubt.ts";

/** A watch that is interrupted for a moment misses nothing that matters here. Milliseconds. */
const SHORT_LOSS_MS = 10_000;

/** Reads what the caches show of the machines as a whole. */
export function observeMachineList({ caches, namespace, control, crdGuard }: ControllerContext): MachineListFacts {
  const machines = caches.machines.store.list(namespace);
  const sets = caches.sets.store.list(namespace);
  const informers = [caches.machines, caches.sets];
  const kinds = ["Machine", "MachineSet", "MachineDeployment"] as const;
  return {
    isCurrent: informers.every((each) => each.isCurrent() && each.connectivity.lostForMs() < SHORT_LOSS_MS),
    epoch: control.history?.epoch() ?? 0,
    count: machines.length,
    unreadable: machines.filter((each) => shapeProblemsOf(each).length > 0).map(({ metadata }) => metadata.name),
    desired: sets
      .filter(({ metadata }) => metadata.deletionTimestamp == null)
      .reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0),
    // Of one that was scaled down meanwhile, only its own VMs wait.
    awaiting: sets
      .filter((set) => (expectedReplicasOf(set) ?? Infinity) <= (set.spec.replicas ?? 0))
      .map(({ metadata }) => metadata.name),
    deletedCrds: kinds.flatMap((kind) => {
      const crd = crdGuard?.stateOf(kind);
      return crd !== undefined && isTerminatingOrDeleted(crd) ? [crd.name] : [];
    }),
  };
}
