import { labelKeys, type Machine } from "@millwright/core";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../../model/crd-state.ts";
import { aMachine, aNode, beingDeleted, type Change, inPhase } from "../../testing/builders.ts";
import { aSnapshot, running, succeeded, testNow } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const pausedBy: CrdState = {
  name: "machines.machine.sapcloud.io",
  state: "terminating",
  createdAt: 0,
  deletedAt: testNow.getTime(),
  isDeletionAllowed: false,
};
const terminatingMachine = (...changes: readonly Change<Machine>[]): Machine =>
  aMachine({ spec: { providerID: "mock:///1" } }, beingDeleted(), inPhase("Running"), ...changes);

describe("a machine that is terminating because of a CRD", () => {
  it("keeps VM, node, finalizer and phase, and names the CRD and the remedy", () => {
    const machine = terminatingMachine({ metadata: { labels: { [labelKeys.node]: "node" } } });
    const decision = decideMachine(
      aSnapshot({ machine, node: aNode({ metadata: { name: "node" } }), pausedBy }),
      testNow,
    );
    expect(decision.actions).toEqual([]);
    expect(decision.status?.currentStatus?.phase).toBe("Running");
    expect(decision.status?.lastOperation).toMatchObject({ type: "Delete", state: "Processing" });
    expect(decision.status?.lastOperation?.description).toMatch(
      /^Deletion paused: .*machines\.machine\.sapcloud\.io is being deleted.*allow-crd-deletion=true$/,
    );
    expect(decision.because).toEqual([
      { type: "Warning", reason: "DeletionPaused", message: decision.status?.lastOperation?.description },
    ]);
  });

  it("reports it once", () => {
    const first = decideMachine(aSnapshot({ machine: terminatingMachine(), pausedBy }), testNow);
    const machine = { ...terminatingMachine(), status: first.status ?? {} };
    const later = decideMachine(aSnapshot({ machine, pausedBy }), new Date(testNow.getTime() + 60_000));
    expect(later).toEqual({ actions: [], status: first.status, because: [] });
  });

  it("keeps the stage of its deletion", () => {
    const description = "Drain successful. Initiate VM deletion";
    const machine = terminatingMachine(inPhase("Terminating"), {
      status: { lastOperation: { type: "Delete", description } },
    });
    const { actions, status } = decideMachine(aSnapshot({ machine, pausedBy }), testNow);
    expect(actions).toEqual([]);
    expect(status?.lastOperation?.description).toMatch(/^Deletion paused: .*\. Initiate VM deletion$/s);
  });

  it("waits for a VM that is being created, and records it", () => {
    const machine = aMachine(beingDeleted());
    expect(decideMachine(aSnapshot({ machine, pausedBy, operation: running("create") }), testNow)).toEqual({
      actions: [],
      because: [],
    });
    const made = succeeded("create", { providerId: "mock:///2", nodeName: "node" });
    const { actions } = decideMachine(aSnapshot({ machine, pausedBy, operation: made }), testNow);
    expect(JSON.stringify(actions)).toContain("mock:///2");
  });

  it("starts no creation", () => {
    const { actions } = decideMachine(aSnapshot({ machine: aMachine(beingDeleted()), pausedBy }), testNow);
    expect(actions).toEqual([]);
  });
});
