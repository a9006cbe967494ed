import { finalizers, type MachineSet, type MachineSetStatus } from "@millwright/core";
import { refusalOf } from "../conditions/spec-valid.ts";
import { isFailed } from "../model/phase.ts";
import { machinesWhere } from "../machine-lists/machines-where.ts";
import { decideFreeze, type Freeze } from "../safety/freeze-set.ts";
import { defaultOvershootMargins, overshootLimits } from "../safety/overshoot-limits.ts";
import { noExpectedReplicasPatch, expectedReplicasOf, isMissingMachines } from "./expected-replicas.ts";
import { decideMembers, deletionOf, notYetDeleted } from "./decide-members.ts";
import type { MachineSetAction, MachineSetDecision, MachineSetSnapshot } from "./snapshot.ts";
import { machineSetStatus } from "./status.ts";

const hasFinalizer = (set: MachineSet): boolean => set.metadata.finalizers?.includes(finalizers.machine) === true;

/** A set on its way out takes its machines with it and waits for the last; its spec no longer matters. */
function decideDeletion({ set, claim, pending }: MachineSetSnapshot): readonly MachineSetAction[] {
  if (!hasFinalizer(set)) return [];
  if (claim.owned.length === 0 && (pending?.count ?? 0) === 0) return [{ kind: "RemoveFinalizer" }];
  return notYetDeleted(claim.owned).map(deletionOf);
}

/** Machines that exist because of this set, by UID and not by name or label. */
const controlledBy = ({ claim, controlled }: MachineSetSnapshot): number =>
  controlled ?? claim.owned.length + claim.release.length;

/** Whether the pass asks the API server for something that it may refuse. */
export const changesReplicas = (actions: readonly MachineSetAction[]): boolean =>
  actions.some(({ kind }) => kind === "CreateMachines" || kind === "DeleteMachine");

/** When time alone changes what is to be done: an answer that does not come, or the end of a preservation. */
function wakeOf({ claim, pending }: MachineSetSnapshot, now: Date): { readonly requeueAfterMs?: number } {
  const expiries = machinesWhere(claim.owned, isFailed)
    .map(({ status }) => Date.parse(status?.currentStatus?.preserveExpiryTime ?? "") - now.getTime())
    .filter((leftMs) => leftMs > 0);
  const requeueAfterMs = Math.min(pending?.expiresInMs ?? Infinity, ...expiries);
  return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
}

/** Whether the set has all that it waited for, so that the note goes. */
const isArrived = ({ set, claim, isCrdDeletionAllowed = false }: MachineSetSnapshot): boolean =>
  expectedReplicasOf(set) !== undefined && (isCrdDeletionAllowed || !isMissingMachines(set, claim.owned));

/**
 * Decides what a MachineSet does next: claim its machines, keep their number, hand down what may change in place, and on its own
 * deletion take them with it. Deletion comes before validation, so that an object that became invalid can still go.
 */
export function decideMachineSet(snapshot: MachineSetSnapshot, now: Date): MachineSetDecision {
  const { set, claim, problems, deployment, pending, margins = defaultOvershootMargins } = snapshot;
  const wake = wakeOf(snapshot, now);
  // A failure stands only as long as there is something left to try.
  const statusWith = (actions: readonly MachineSetAction[], freeze?: Freeze): MachineSetStatus => {
    const failure = changesReplicas(actions) ? snapshot.failure : undefined;
    return machineSetStatus({ set, owned: claim.owned, problems, failure, freeze }, now);
  };
  if (set.metadata.deletionTimestamp != null) {
    const actions = decideDeletion(snapshot);
    // With the finalizer the object itself goes: there is nothing left to write a status to.
    const isLast = actions.some(({ kind }) => kind === "RemoveFinalizer") || !hasFinalizer(set);
    return { actions, because: [], ...wake, ...(isLast ? {} : { status: statusWith(actions) }) };
  }
  const because = refusalOf(problems, set.status?.machineSetCondition);
  if (problems.length > 0) return { actions: [], status: statusWith([]), because };
  if (!hasFinalizer(set)) return { actions: [{ kind: "AddFinalizer" }], because };
  const limits = overshootLimits(set, deployment, margins);
  const controlled = controlledBy(snapshot);
  const freeze = decideFreeze(set, controlled, limits, snapshot.countBefore);
  const room = limits.upper - controlled - (pending?.count ?? 0);
  const members = decideMembers(snapshot, room, freeze.isFrozen, now);
  const patches = [freeze.patch, isArrived(snapshot) ? noExpectedReplicasPatch : undefined].filter(
    (each) => each !== undefined,
  );
  const patch = patches.map((each): MachineSetAction => ({ kind: "PatchSet", patch: each }));
  return {
    ...members,
    actions: [...patch, ...members.actions],
    status: statusWith(members.actions, freeze),
    because: [...because, ...freeze.because],
    ...wake,
  };
}
