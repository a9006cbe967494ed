import { eventReasons, type Machine, machineSetResource, type MachineSet, selectorMatches } from "@millwright/core";
import { type ApiObject, controllerRefOf, type OwnerReference } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { approvesItself, approvesRequest } from "../deletion-budget/approval.ts";
import { approvalRemedy, approverOf, HELD_RETRY_MS, restoreCommand } from "../model/held-deletion.ts";
import type { Guard, Hold } from "../model/hold.ts";
import { isUndecided } from "../model/undecided-deletion.ts";
import { isDeletedOnAdoption } from "../ownership/adoption.ts";
import { createLostOwners, type LostOwners } from "../ownership/lost-owners.ts";

/** What is asked about a Machine whose MachineSet does not exist, or did not exist a moment before. */
const question = (machine: Machine, what: string, approver: NonNullable<Hold["approver"]>): Hold => ({
  by: "lost-owner",
  holds: "deletion",
  message: `Deletion held: its owner, MachineSet ${what}. Was Machine ${machine.metadata.name} restored from a backup? No node is drained and no VM is deleted. To keep the VM, run "${restoreCommand}". To delete it, approve. ${approvalRemedy(approver)}`,
  remedy: `To keep the VM, run "${restoreCommand}". ${approvalRemedy(approver)}`,
  approver,
  stalls: "DeletionsHeld",
  keepsPhase: true,
  requeueAfterMs: HELD_RETRY_MS,
  event: { type: "Warning", reason: eventReasons.deletionsHeld },
});

/**
 * Holds the deletion of Machines whose MachineSet does not exist, however few they are. A set exists until its last Machine is deleted, so no deletion of a set leads to this: the Machine was restored from a file that has the
 * UID of a former set, and the garbage collector deletes it. Only a set that lost its finalizer by hand leaves such Machines, too.
 */
export function lostOwnerGuard(
  context: Pick<ControllerContext, "caches" | "namespace" | "control" | "clock">,
): Guard<Machine> {
  const { caches, namespace, clock } = context;
  const { sets, deployments } = caches;
  const owners = createLostOwners<MachineSet>(context, machineSetResource, sets.store);

  /** The set that would adopt the machine if it were not terminating. */
  const successorOf = ({ metadata }: Machine, { name }: OwnerReference): MachineSet | undefined =>
    sets.store.getByRef({ namespace, name }) ??
    sets.store.list(namespace).find(({ spec }) => selectorMatches(spec.selector, metadata.labels));

  return {
    name: "lost-owner",
    waitFor: sets,
    of(machine) {
      const owner = controllerRefOf(machine);
      if (owner === undefined || !isUndecided(machine)) return "proceed";
      const isMissing = owners.isMissing(owner);
      if (isMissing && !owners.isConfirmed(owner)) return { read: () => owners.confirm(owner), mayKeepPhase: true };
      const set = successorOf(machine, owner);
      // Those of a set that is deleted go because that goes.
      if (!isMissing && (set?.metadata.deletionTimestamp !== undefined || !isDeletedOnAdoption(machine)))
        return "proceed";
      const ofSet = set && controllerRefOf(set);
      const deployment = ofSet && deployments.store.getByRef({ namespace, name: ofSet.name });
      const now = clock.now();
      const owning = [set, deployment].filter((each) => each !== undefined);
      if (approvesItself(machine, now) || owning.some((each) => approvesRequest(each, machine, now))) return "proceed";
      const what = isMissing
        ? `${owner.name}, does not exist by the UID in its owner reference`
        : `${owner.name}, had just adopted it in place of one that does not exist`;
      return question(machine, what, approverOf(machine, deployment, set));
    },
  };
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
