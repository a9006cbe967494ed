import {
  eventReasons,
  type Machine,
  machineSetResource,
  type MachineDeployment,
  type MachineSet,
  selectorMatches,
} from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf, type OwnerReference } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { approvesItself, approvesRequest } from "../deletion-budget/approval.ts";
import { approvalRemedy, approverOf, HELD_RETRY_MS, isDeletionHeld, restoreCommand } from "../model/held-deletion.ts";
import type { Guard, Hold } from "../model/hold.ts";
import { isUndecided } from "../model/undecided-deletion.ts";
import { isDeletedOnAdoption } from "../ownership/adoption.ts";
import { createLostOwners, type LostOwners } from "../ownership/lost-owners.ts";
import { createLostSets } from "../ownership/lost-sets.ts";

/** What is asked about a Machine whose MachineSet does not exist, or did not exist a moment before. */
const question = (machine: Machine, why: string, approver: NonNullable<Hold["approver"]>): Hold => ({
  by: "lost-owner",
  holds: "deletion",
  message: `Deletion held: ${why}. Was Machine ${machine.metadata.name} restored from a backup? No node is drained and no VM is deleted. To keep the VM, run "${restoreCommand}". To delete it, approve. ${approvalRemedy(approver)}`,
  remedy: `To keep the VM, run "${restoreCommand}". ${approvalRemedy(approver)}`,
  approver,
  stalls: "DeletionsHeld",
  keepsPhase: true,
  requeueAfterMs: HELD_RETRY_MS,
  event: { type: "Warning", reason: eventReasons.deletionsHeld },
});

/** Those that a Machine belonged to, or would belong to if it were not terminating. */
interface Successors {
  readonly set?: MachineSet | undefined;
  readonly deployment?: MachineDeployment | undefined;
}

/** Why the deletion of a Machine whose set exists, or that has none, may be that of the garbage collector; `undefined` when it is not. */
function reasonOf(machine: Machine, owner: OwnerReference | undefined, { set, deployment }: Successors) {
  if (owner !== undefined)
    return isDeletedOnAdoption(machine)
      ? `its owner, MachineSet ${owner.name}, had just adopted it in place of one that does not exist`
      : undefined;
  if (set !== undefined) return `it has no owner, and MachineSet ${set.metadata.name} selects it`;
  return deployment && `it has no owner, and MachineDeployment ${deployment.metadata.name} selects it`;
}

/** Reads whether the deployment exists that a set names and that the cache lacks, before anything is decided about the set. */
export const lostDeploymentGuard = (
  owners: Pick<LostOwners, "isMissing" | "isConfirmed" | "confirm">,
): Guard<ApiObject> => ({
  name: "lost-owner",
  of(set) {
    const owner = controllerRefOf(set);
    const isUnconfirmed = owner !== undefined && owners.isMissing(owner) && !owners.isConfirmed(owner);
    return isUnconfirmed ? { read: () => owners.confirm(owner) } : "proceed";
  },
});

/**
 * Holds the deletion of Machines whose MachineSet does not exist, however few they are. A set exists until its last Machine is deleted, so no deletion of a set leads to this: the Machine was restored from a file that has the
 * UID of a former set, and the garbage collector deletes it. Only a set that lost its finalizer by hand leaves such Machines, too. When the former set was deleted without its Machines, the collector may still be at that: it
 * takes the owner off Machines that it has deleted a moment before.
 */
export function lostOwnerGuard(
  context: Pick<ControllerContext, "caches" | "namespace" | "control" | "clock">,
): Guard<Machine> {
  const { caches, namespace, clock } = context;
  const { sets, deployments } = caches;
  const owners = createLostOwners<MachineSet>(context, machineSetResource, sets.store);
  const lostSets = createLostSets(context);
  const ofLostSets = lostDeploymentGuard(lostSets);

  const successorsOf = (machine: Machine, owner: OwnerReference | undefined): Successors => {
    const { labels } = machine.metadata;
    const named = owner && sets.store.getByRef({ namespace, name: owner.name });
    const set = named ?? sets.store.list(namespace).find(({ spec }) => selectorMatches(spec.selector, labels));
    const ofSet = set && controllerRefOf(set);
    if (ofSet !== undefined) return { set, deployment: deployments.store.getByRef({ namespace, name: ofSet.name }) };
    // It was held before its owner was taken off, and the set may not be restored yet.
    const isHeld = set === undefined && owner === undefined && isDeletionHeld(machine);
    return isHeld ? { deployment: lostSets.deploymentOf(labels) } : { set };
  };

  return {
    name: "lost-owner",
    waitFor: sets,
    of(machine) {
      if (!isUndecided(machine)) return "proceed";
      const owner = controllerRefOf(machine);
      const isMissing = owner !== undefined && owners.isMissing(owner);
      if (isMissing && !owners.isConfirmed(owner)) return { read: () => owners.confirm(owner), mayKeepPhase: true };
      const { set, deployment } = successorsOf(machine, owner);
      const why = isMissing
        ? `its owner, MachineSet ${owner.name}, does not exist by the UID in its owner reference`
        : reasonOf(machine, owner, { set, deployment });
      if (why === undefined) return "proceed";
      if (!isMissing && set?.metadata.deletionTimestamp !== undefined) {
        const verdict = ofLostSets.of(set);
        if (verdict !== "proceed") return { ...verdict, mayKeepPhase: true };
        // Those of a set that is deleted go because that goes.
        if (!lostSets.isLost(set)) return "proceed";
      }
      const now = clock.now();
      const owning = [set, deployment].filter((each) => each !== undefined);
      if (approvesItself(machine, now) || owning.some((each) => approvesRequest(each, machine, now))) return "proceed";
      return question(machine, why, approverOf(machine, deployment, set));
    },
  };
}
