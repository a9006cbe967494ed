import type { Machine } from "@millwright/core/machine-api";
import type { DeletionBudget } from "../model/deletion-budget.ts";
import { budgetHold, byBudget } from "../model/held-deletion.ts";
import type { Guard } from "../model/hold.ts";

/** Holds deletions of Machines that other clients request, while the deletion budget does not allow them; see docs/project/decisions/deletion-budget.md. */
export const budgetGuard = (budget: Pick<DeletionBudget, "ofMachine" | "enter" | "onChange">): Guard<Machine> => ({
  name: byBudget.by,
  of(machine) {
    const result = budget.ofMachine(machine);
    if (result === undefined || result.verdict === "proceed") return "proceed";
    return result.verdict === "held"
      ? budgetHold(result.held, result.approver)
      : { ...byBudget, message: "", remedy: "", isUnknown: true, requeueAfterMs: result.forMs };
  },
  enter(machine) {
    const result = budget.ofMachine(machine);
    if (result?.verdict === "proceed") budget.enter(machine, result.cause, result.isApproved);
  },
  onChange: (listener) => budget.onChange(listener),
});
