import {
  deletionsHeldConditionType,
  deletionsHeldReasons,
  eventReasons,
  type MachineDeployment,
  type MachineSet,
} from "@millwright/core/machine-api";
import { type ApiObject, type Condition, type ConditionState, findCondition } from "@millwright/kube";
import { type BoundApproval, formatApproval, shortUid } from "../model/approval.ts";
import type { Reason } from "../model/decision.ts";
import type { DeletionCause, HeldDeletions } from "../model/deletion-budget.ts";
import { approvalRemedy, restoreCommand } from "../model/held-deletion.ts";
import { approvalOf, usedApprovals } from "./approval.ts";

const causes: Readonly<Record<DeletionCause, string>> = {
  "scale-down": "scale-down",
  rollout: "rollout",
  remediation: "remediation",
  autoscaler: "scale-down by the cluster-autoscaler",
  parent: "deletion of the owner",
  machine: "deletion of Machines",
  creation: "creation of machines",
  "orphan-vm": "deletion of VMs without Machine",
};

const reasons: Readonly<Record<HeldDeletions["why"], string>> = {
  share: deletionsHeldReasons.approvalRequired,
  rate: deletionsHeldReasons.rateLimited,
  "ownerless VMs": deletionsHeldReasons.approvalRequired,
  "lost owner": deletionsHeldReasons.approvalRequired,
  "lost Machines": deletionsHeldReasons.approvalRequired,
  pace: deletionsHeldReasons.paced,
};

const effects: Readonly<Record<HeldDeletions["why"], string>> = {
  share: "Nothing of it is deleted",
  rate: "Nothing of it is deleted",
  "ownerless VMs": "To keep the VMs, create their Machines with spec.providerID",
  "lost owner": `To keep the VMs, run "${restoreCommand}"`,
  "lost Machines": `To keep the VMs, run "${restoreCommand}", or create their Machines with spec.providerID`,
  pace: "The next ones follow by themselves",
};

const machinesText = (count: number): string => (count === 1 ? "1 machine" : `${count} machines`);

/** The object whose annotation approves. */
export type ApprovingObject =
  | { readonly kind: "MachineDeployment"; readonly object: MachineDeployment }
  | { readonly kind: "MachineSet"; readonly object: MachineSet };

/** An annotation that approves nothing, as a sentence; empty without one. */
export function approvalProblem(object: Pick<ApiObject, "metadata">, now: Date): string {
  const approval = approvalOf(object, now);
  if (approval.state === "none" || approval.state === "approved") return "";
  const { value, why } =
    approval.state === "void"
      ? approval
      : { value: formatApproval(approval.bound), why: "it is for less, or for something else" };
  return `. Value ${JSON.stringify(value.slice(0, 64))} approves nothing of it: ${why}`;
}

/** What approves just these. */
function approvalFor({ why, cause, count, before }: HeldDeletions, object: Pick<ApiObject, "metadata">): BoundApproval {
  const { generation = 0 } = object.metadata;
  const uid = shortUid(object.metadata);
  if ((cause === "machine" || why === "lost owner") && before !== undefined)
    return { work: "requests", count, before, uid };
  if (cause === "parent" || cause === "machine") return { work: "requests", count, generation, uid };
  const work = cause === "creation" ? "creations" : "deletions";
  return { work, count: usedApprovals(object) + count, generation, uid };
}

/** What is held, and by whose budget. */
export function heldText({ why, cause, count, scope, limit, total, loss }: HeldDeletions): string {
  if (why === "ownerless VMs")
    return `Creation of ${machinesText(count)} is held: ${total} VMs of ${scope.kind} ${scope.name} have no Machine and may be theirs`;
  if (why === "lost owner")
    return `Deletion of ${machinesText(count)} is held: their owner does not exist, so they may have been restored from a backup`;
  if (why === "lost Machines")
    return `Lost Machines of ${scope.kind} ${scope.name}: ${count}. Their VMs may still run and are kept, and no other machines are created`;
  const what = `Deletion of ${machinesText(count)} is held (${causes[cause]})`;
  const of = `${scope.kind} ${scope.name}`;
  if (why === "pace")
    return `Deletion of ${machinesText(count)} is approved and waits (${causes[cause]}): at most ${limit} of ${of} are deleted, or not replaced yet, at a time`;
  if (why === "rate") return `${what}: ${of} is limited to ${limit} deletions an hour`;
  const before = loss === 0 ? "" : `, and ${loss} were lost already`;
  return `${what}: at most ${limit} of ${total} machines of ${of} may be lost within an hour${before}`;
}

/** The condition of an object whose deletions are held. */
export function heldCondition(held: HeldDeletions, by: ApprovingObject, now: Date): ConditionState {
  const { metadata } = by.object;
  const remedy = approvalRemedy({ kind: by.kind, name: metadata.name, approval: approvalFor(held, by.object) });
  const problem = held.why === "pace" ? "" : approvalProblem(by.object, now);
  return {
    type: deletionsHeldConditionType,
    status: "True",
    reason: reasons[held.why],
    message: `${heldText(held)}. ${effects[held.why]}. ${remedy}${problem}`,
  };
}

const conditionIn = (conditions: readonly Condition[] | undefined): Condition | undefined => {
  const found = findCondition(conditions, deletionsHeldConditionType);
  return found?.status === "True" ? found : undefined;
};

/** The event of a hold: when it begins, and not when its numbers change. */
export function heldEvents(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): readonly Reason[] {
  const held = conditionIn(after);
  if (held === undefined || conditionIn(before) !== undefined) return [];
  return [{ type: "Warning", reason: eventReasons.deletionsHeld, message: held.message ?? "" }];
}
