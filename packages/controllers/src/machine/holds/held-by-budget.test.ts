import { describe, expect, it } from "vitest";
import { budgetGuard } from "../../deletion-budget/guard.ts";
import { budgetHold } from "../../model/held-deletion.ts";
import type { BudgetVerdict } from "../../model/deletion-budget.ts";
import { judge } from "../../model/hold.ts";
import { aMachine, beingDeleted, inPhase } from "../../testing/builders.ts";
import { aSnapshot, testNow } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const held = (kind: "Machine" | "MachineDeployment") =>
  budgetHold(
    {
      why: "share",
      cause: "machine",
      count: 20,
      scope: { kind: "Namespace", name: "default" },
      limit: 10,
      total: 20,
      loss: 0,
    },
    { kind, name: "fleet" },
  );
/** The hold of a verdict, if any. */
const holdOf = (verdict: BudgetVerdict | undefined) =>
  judge([budgetGuard({ ofMachine: () => verdict, enter: () => undefined, onChange: () => undefined })], terminating)
    .hold;
const terminating = aMachine({ spec: { providerID: "mock:///1" } }, beingDeleted(), inPhase("Running"));

describe("a machine whose deletion the budget holds", () => {
  it("keeps the machine and its phase, and a machine without owner has the event once", () => {
    const first = decideMachine(aSnapshot({ machine: terminating, hold: held("Machine") }), testNow);
    expect(first.actions).toEqual([]);
    expect(first.status?.currentStatus?.phase).toBe("Running");
    expect(first.because).toEqual([
      { type: "Warning", reason: "DeletionsHeld", message: first.status?.lastOperation?.description },
    ]);
    const machine = { ...terminating, status: first.status ?? {} };
    expect(decideMachine(aSnapshot({ machine, hold: held("Machine") }), testNow).because).toEqual([]);
  });

  it("leaves the event to the deployment", () => {
    const decision = decideMachine(aSnapshot({ machine: terminating, hold: held("MachineDeployment") }), testNow);
    expect(decision?.status?.lastOperation?.description).toContain("held");
    expect(decision?.because).toEqual([]);
  });

  it("waits for the rest of a request", () => {
    const hold = holdOf({ verdict: "wait", forMs: 5000 });
    expect(decideMachine(aSnapshot({ machine: terminating, hold }), testNow)).toEqual({
      actions: [],
      because: [],
      requeueAfterMs: 5000,
    });
  });

  it("is deleted when the budget allows it, or has before", () => {
    expect(holdOf({ verdict: "proceed", isApproved: false, cause: "machine" })).toBeUndefined();
    expect(holdOf(undefined)).toBeUndefined();
  });
});
