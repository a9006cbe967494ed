import { describe, expect, it } from "vitest";
import type { DeletionHold } from "../state/snapshot.ts";
import { aMachine, beingDeleted, inPhase } from "../../testing/builders.ts";
import { aSnapshot, testNow } from "../../testing/snapshots.ts";
import { decideHeldDeletion } from "./held.ts";

const held = (kind: "Machine" | "MachineDeployment"): DeletionHold => ({
  verdict: "held",
  held: {
    why: "share",
    cause: "machine",
    count: 20,
    scope: { kind: "Namespace", name: "default" },
    limit: 10,
    total: 20,
    loss: 0,
  },
  approver: { kind, name: "fleet" },
});
const terminating = aMachine({ spec: { providerID: "mock:///1" } }, beingDeleted(), inPhase("Running"));

describe("decideHeldDeletion", () => {
  it("keeps the machine and its phase, and a machine without owner has the event once", () => {
    const first = decideHeldDeletion(aSnapshot({ machine: terminating, heldBy: held("Machine") }), testNow);
    expect(first?.actions).toEqual([]);
    expect(first?.status?.currentStatus?.phase).toBe("Running");
    expect(first?.because).toEqual([
      { type: "Warning", reason: "DeletionsHeld", message: first?.status?.lastOperation?.description },
    ]);
    const machine = { ...terminating, status: first?.status ?? {} };
    expect(decideHeldDeletion(aSnapshot({ machine, heldBy: held("Machine") }), testNow)?.because).toEqual([]);
  });

  it("leaves the event to the deployment", () => {
    const decision = decideHeldDeletion(
      aSnapshot({ machine: terminating, heldBy: held("MachineDeployment") }),
      testNow,
    );
    expect(decision?.status?.lastOperation?.description).toContain("held");
    expect(decision?.because).toEqual([]);
  });

  it("waits for the rest of a request", () => {
    const heldBy: DeletionHold = { verdict: "wait", forMs: 5000 };
    expect(decideHeldDeletion(aSnapshot({ machine: terminating, heldBy }), testNow)).toEqual({
      actions: [],
      because: [],
      requeueAfterMs: 5000,
    });
  });

  it("holds nothing that is not terminating, and nothing without a hold", () => {
    expect(decideHeldDeletion(aSnapshot({ machine: aMachine(), heldBy: held("Machine") }), testNow)).toBeUndefined();
    expect(decideHeldDeletion(aSnapshot({ machine: terminating }), testNow)).toBeUndefined();
  });
});
