import { labelKeys, type Machine } from "@millwright/core";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../../model/crd-state.ts";
import { aMachine, aNode, beingDeleted, type Change, inPhase } from "../../testing/builders.ts";
import { aSnapshot, running, succeeded, testNow } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const heldBy: CrdState = {
  name: "machines.machine.sapcloud.io",
  state: "going",
  createdAt: 0,
  deletedAt: testNow.getTime(),
  isMeant: false,
};
const goingMachine = (...changes: readonly Change<Machine>[]): Machine =>
  aMachine({ spec: { providerID: "mock:///1" } }, beingDeleted(), inPhase("Running"), ...changes);

describe("a machine that is on its way out because of a definition", () => {
  it("keeps VM, node, finalizer and phase, and says which definition it is and what to do", () => {
    const machine = goingMachine({ metadata: { labels: { [labelKeys.node]: "node" } } });
    const decision = decideMachine(
      aSnapshot({ machine, node: aNode({ metadata: { name: "node" } }), heldBy }),
      testNow,
    );
    expect(decision.actions).toEqual([]);
    expect(decision.status?.currentStatus?.phase).toBe("Running");
    expect(decision.status?.lastOperation).toMatchObject({ type: "Delete", state: "Processing" });
    expect(decision.status?.lastOperation?.description).toMatch(
      /^Deletion held.*machines\.machine\.sapcloud\.io is being deleted.*allow-crd-deletion=true$/,
    );
    expect(decision.because).toEqual([
      { type: "Warning", reason: "DeletionPaused", message: decision.status?.lastOperation?.description },
    ]);
  });

  it("says so once", () => {
    const first = decideMachine(aSnapshot({ machine: goingMachine(), heldBy }), testNow);
    const machine = { ...goingMachine(), status: first.status ?? {} };
    const later = decideMachine(aSnapshot({ machine, heldBy }), new Date(testNow.getTime() + 60_000));
    expect(later).toEqual({ actions: [], status: first.status, because: [] });
  });

  it("stays at the stage to which its deletion had come", () => {
    const description = "Drain successful. Initiate VM deletion";
    const machine = goingMachine(inPhase("Terminating"), {
      status: { lastOperation: { type: "Delete", description } },
    });
    const { actions, status } = decideMachine(aSnapshot({ machine, heldBy }), testNow);
    expect(actions).toEqual([]);
    expect(status?.lastOperation?.description).toMatch(/^Deletion held.*\. Initiate VM deletion$/s);
  });

  it("waits for a VM that is being made, and records it", () => {
    const machine = aMachine(beingDeleted());
    expect(decideMachine(aSnapshot({ machine, heldBy, operation: running("create") }), testNow)).toEqual({
      actions: [],
      because: [],
    });
    const made = succeeded("create", { providerId: "mock:///2", nodeName: "node" });
    const { actions } = decideMachine(aSnapshot({ machine, heldBy, operation: made }), testNow);
    expect(JSON.stringify(actions)).toContain("mock:///2");
  });

  it("starts no creation", () => {
    const { actions } = decideMachine(aSnapshot({ machine: aMachine(beingDeleted()), heldBy }), testNow);
    expect(actions).toEqual([]);
  });
});
