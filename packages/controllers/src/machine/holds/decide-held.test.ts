import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../../model/crd-state.ts";
import { aMachine, aNode, beingDeleted, type Change, inPhase } from "../../testing/builders.ts";
import { aSnapshot, failed, running, succeeded, testNow } from "../../testing/snapshots.ts";
import { crdHoldOfMachine } from "../../crd-guard/crd-hold.ts";
import { protectionHold } from "../../model/deletion-protection.ts";
import { decideMachine } from "../decide.ts";

const crd: CrdState = {
  name: "machines.machine.sapcloud.io",
  state: "terminating",
  createdAt: 0,
  deletedAt: testNow.getTime(),
  isDeletionAllowed: false,
};
const hold = crdHoldOfMachine(crd);
const terminatingMachine = (...changes: readonly Change<Machine>[]): Machine =>
  aMachine({ spec: { providerID: "mock:///1" } }, beingDeleted(), inPhase("Running"), ...changes);

describe("a machine that is terminating because of a CRD", () => {
  it("keeps VM, node, finalizer and phase, and names the CRD and the remedy", () => {
    const machine = terminatingMachine({ metadata: { labels: { [labelKeys.node]: "node" } } });
    const decision = decideMachine(aSnapshot({ machine, node: aNode({ metadata: { name: "node" } }), hold }), testNow);
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
    const first = decideMachine(aSnapshot({ machine: terminatingMachine(), hold }), testNow);
    const machine = { ...terminatingMachine(), status: first.status ?? {} };
    const later = decideMachine(aSnapshot({ machine, hold }), new Date(testNow.getTime() + 60_000));
    expect(later).toEqual({ actions: [], status: first.status, because: [] });
  });

  it("keeps the stage of its deletion", () => {
    const description = "Drain successful. Initiate VM deletion";
    const machine = terminatingMachine(inPhase("Terminating"), {
      status: { lastOperation: { type: "Delete", description } },
    });
    const { actions, status } = decideMachine(aSnapshot({ machine, hold }), testNow);
    expect(actions).toEqual([]);
    expect(status?.lastOperation?.description).toMatch(/^Deletion paused: .*\. Initiate VM deletion$/s);
  });

  it("waits for a VM that is being created, and records it", () => {
    const machine = aMachine(beingDeleted());
    expect(decideMachine(aSnapshot({ machine, hold, operation: running("create") }), testNow)).toEqual({
      actions: [],
      because: [],
    });
    const made = succeeded("create", { providerId: "mock:///2", nodeName: "node" });
    const { actions } = decideMachine(aSnapshot({ machine, hold, operation: made }), testNow);
    expect(JSON.stringify(actions)).toContain("mock:///2");
  });

  it("starts no creation", () => {
    const { actions } = decideMachine(aSnapshot({ machine: aMachine(beingDeleted()), hold }), testNow);
    expect(actions).toEqual([]);
  });
});

describe("a terminating machine that is protected", () => {
  const hold = protectionHold({ kind: "Machine", name: "machine" });
  const inStage = (description: string): Machine =>
    terminatingMachine(inPhase("Terminating"), { status: { lastOperation: { type: "Delete", description } } });

  it("keeps VM, node and finalizer, is Terminating, and names the annotation to remove", () => {
    const node = aNode({ metadata: { name: "node" } });
    const { actions, status, because } = decideMachine(
      aSnapshot({ machine: terminatingMachine(), node, hold }),
      testNow,
    );
    expect(actions).toEqual([]);
    expect(status?.currentStatus?.phase).toBe("Terminating");
    expect(status?.lastOperation).toMatchObject({ type: "Delete", state: "Processing" });
    const message =
      "Deletion paused: Machine machine is protected. No node is drained and no VM is deleted. To delete it, remove annotation machine.millwright.dev/deletion-protection from Machine machine";
    expect(status?.lastOperation?.description).toBe(
      `${message}. Set machine status to termination. Now, getting VM Status`,
    );
    expect(because).toEqual([{ type: "Warning", reason: "DeletionPaused", message }]);
  });

  it("reports it once", () => {
    const first = decideMachine(aSnapshot({ machine: terminatingMachine(), hold }), testNow);
    const machine = { ...terminatingMachine(), status: first.status ?? {} };
    expect(decideMachine(aSnapshot({ machine, hold }), testNow)).toEqual({
      actions: [],
      status: first.status,
      because: [],
    });
  });

  it("stays at the stage of its deletion, and keeps a VM whose deletion failed", () => {
    const machine = inStage("Drain successful. Initiate VM deletion");
    for (const operation of [undefined, failed("delete", "Internal")]) {
      const { actions, status } = decideMachine(aSnapshot({ machine, hold, operation }), testNow);
      expect(actions).toEqual([]);
      expect(status?.lastOperation?.description).toMatch(/^Deletion paused: .*\. Initiate VM deletion$/s);
    }
  });

  it("continues from its stage when the annotation is removed", () => {
    const { status } = decideMachine(aSnapshot({ machine: terminatingMachine(), hold }), testNow);
    const machine = { ...terminatingMachine(), status: status ?? {} };
    const { actions } = decideMachine(aSnapshot({ machine, hasTarget: false }), testNow);
    expect(actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
  });
});
