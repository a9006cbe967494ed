import { eventReasons, type Machine } from "@millwright/core";
import type { Approver, DeletionBudget, HeldDeletions } from "../model/deletion-budget.ts";
import type { MachineOwners } from "../model/deletion-protection.ts";
import { approvalRemedy, approverOf, heldDeletionMessage, isDeletionHeld } from "../model/held-deletion.ts";
import type { Guard, Hold } from "../model/hold.ts";
import { HELD_RETRY_MS } from "./held-condition.ts";

const inCommon = { by: "budget", holds: "deletion", keepsPhase: true } as const;

/** The hold of a Machine whose deletion needs an approval. Its deployment, or its set, reports how many are held; a Machine without either has the event itself. */
export const budgetHold = (held: HeldDeletions, approver: Approver): Hold => ({
  ...inCommon,
  message: heldDeletionMessage(held, approver),
  remedy: approvalRemedy(approver),
  approver,
  requeueAfterMs: HELD_RETRY_MS,
  ...(approver.kind === "Machine" ? { event: { type: "Warning", reason: eventReasons.deletionsHeld } } : {}),
});

/** The same hold as the status of the Machine has it; `undefined` when it has none. */
export function recordedBudgetHold(machine: Machine, { set, deployment }: MachineOwners): Hold | undefined {
  if (!isDeletionHeld(machine)) return undefined;
  const approver = approverOf(machine, deployment, set);
  const message = machine.status?.lastOperation?.description ?? "";
  return { ...inCommon, message, remedy: approvalRemedy(approver), approver };
}

/** Holds deletions of Machines that other clients request, while the deletion budget does not allow them; see docs/decisions/deletion-budget.md. */
export const budgetGuard = (budget: Pick<DeletionBudget, "ofMachine" | "enter" | "onChange">): Guard<Machine> => ({
  name: inCommon.by,
  of(machine) {
    const result = budget.ofMachine(machine);
    if (result === undefined || result.verdict === "proceed") return "proceed";
    return result.verdict === "held"
      ? budgetHold(result.held, result.approver)
      : { ...inCommon, message: "", remedy: "", isUnknown: true, requeueAfterMs: result.forMs };
  },
  enter(machine) {
    const result = budget.ofMachine(machine);
    if (result?.verdict === "proceed") budget.enter(machine, result.cause, result.isApproved);
  },
  onChange: (listener) => budget.onChange(listener),
});
