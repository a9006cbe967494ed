import { annotationKeys, eventReasons, type Machine, readOperation } from "@millwright/core/machine-api";
import { formatApproval, shortUid } from "./approval.ts";
import type { HeldDeletions } from "./deletion-budget.ts";
import type { MachineOwners } from "./deletion-protection.ts";
import type { Approver, Hold } from "./hold.ts";

const nouns = { MachineDeployment: "deployment", MachineSet: "set", Machine: "machine" } as const;

/** Keeps the VMs of Machines whose owners do not exist. */
export const restoreCommand = "millwright restore FILE";

const commandOf = ({ kind, name }: Approver): string => `"millwright approve ${nouns[kind]} ${name}"`;

/** How to approve: all at once, or gently. */
export const approvalRemedy = (approver: Approver): string => {
  const { kind, name, approval } = approver;
  const gently = kind === "Machine" || approval?.work === "creations" ? "" : ", with --at-a-time 3 for three at a time";
  const annotation =
    approval === undefined
      ? ""
      : `; or set annotation ${annotationKeys.approveDeletions} of ${kind} ${name} to ${formatApproval(approval)}`;
  return `To approve, run ${commandOf(approver)}${gently}${annotation}`;
};

/** The widest owner of a machine that is left. */
export function approverOf(
  machine: Machine,
  deployment: { readonly metadata: { readonly name?: string } } | undefined,
  set: { readonly metadata: { readonly name?: string } } | undefined,
): Approver {
  if (deployment !== undefined) return { kind: "MachineDeployment", name: deployment.metadata.name ?? "" };
  if (set !== undefined) return { kind: "MachineSet", name: set.metadata.name ?? "" };
  const { name } = machine.metadata;
  return { kind: "Machine", name, approval: { work: "requests", count: 1, uid: shortUid(machine.metadata) } };
}

/** Whether the deletion budget holds the deletion of a Machine, by its status. */
export const isDeletionHeld = ({ metadata, status }: Machine): boolean =>
  metadata.deletionTimestamp != null && readOperation(status).reason === "DeletionHeld";

/** The message of a Machine whose deletion is held. Without numbers, which change while others are deleted. */
export function heldDeletionMessage({ why, scope, limit }: HeldDeletions, approver: Approver): string {
  const of = `${scope.kind} ${scope.name}`;
  switch (why) {
    case "pace":
      return `Deletion held: approved, but at most ${limit} machines of ${of} at a time. To have all deleted at once, run ${commandOf(approver)}`;
    case "rate":
      return `Deletion held: ${of} is limited to ${limit} deletions an hour. ${approvalRemedy(approver)}`;
    case "share":
    case "ownerless VMs":
    case "lost owner":
    case "lost Machines":
      return `Deletion held for approval: too many machines of ${of} would be deleted at once. No node is drained and no VM is deleted. ${approvalRemedy(approver)}`;
  }
}

/** Time after which a hold is judged again, milliseconds: losses end, and machines come into service. */
export const HELD_RETRY_MS = 30_000;

/** What all holds of the deletion budget have. A VM in service keeps its phase. */
export const byBudget = { by: "budget", holds: "deletion", keepsPhase: true } as const;

/** The hold of a Machine whose deletion needs an approval. Its deployment, or its set, reports how many are held; a Machine without either has the event itself. */
export const budgetHold = (held: HeldDeletions, approver: Approver): Hold => ({
  ...byBudget,
  message: heldDeletionMessage(held, approver),
  remedy: approvalRemedy(approver),
  approver,
  // What is approved has a pace, and a rate allows more later.
  ...(held.why === "pace" || held.why === "rate" ? {} : { stalls: "DeletionsHeld" }),
  requeueAfterMs: HELD_RETRY_MS,
  ...(approver.kind === "Machine" ? { event: { type: "Warning", reason: eventReasons.deletionsHeld } } : {}),
});

/** The same hold as the status of the Machine has it; `undefined` when it has none. */
export function recordedBudgetHold(machine: Machine, { set, deployment }: MachineOwners): Hold | undefined {
  if (!isDeletionHeld(machine)) return undefined;
  const approver = approverOf(machine, deployment, set);
  const message = machine.status?.lastOperation?.description ?? "";
  return { ...byBudget, message, remedy: approvalRemedy(approver), approver };
}
