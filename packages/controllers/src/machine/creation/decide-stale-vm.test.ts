import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, annotated, aNode, beingDeleted, createdAt, inPhase } from "../../testing/builders.ts";
import {
  aSnapshot,
  failed,
  kindsOf,
  later,
  machineAfter,
  pending,
  running,
  succeeded,
  testNow,
  unusable,
} from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { decide, machineThen } from "../../testing/creations.ts";
import { intentAnnotation, intentFor, readIntent } from "../../model/creation-intent.ts";

const vm = { providerId: "vm-1", nodeName: "old-node" };
const oldNode = aNode({ metadata: { name: "old-node", creationTimestamp: "2025-01-01T00:00:00Z" } });
const sameNameNode = { node: oldNode, match: "unknown" } as const;
const found = { operation: succeeded("create", vm), sameNameNode };
/** The machine when its VM is known and to be deleted. */
const marked = machineThen(found);
const remove = { kind: "StartOperation", operation: "delete" };

// The VM with an old node's name is deleted before the machine fails, and never adopted.
describe("a VM under the name of an existing node", () => {
  it("is stored by its id alone, without a link to that node, and reported as stale", () => {
    const decision = decide(found);
    expect(marked.spec.providerID).toBe("vm-1");
    expect(marked.metadata.labels).not.toHaveProperty("node");
    expect(readIntent(marked)?.staleNode).toBe("old-node");
    expect(decision.status).toBeUndefined();
    expect(decision.because).toMatchObject([{ type: "Warning", reason: "StaleNode" }]);
  });

  it("is found stale also when it was adopted after a crash", () => {
    const operation = succeeded("create", { ...vm, isAdopted: true });
    expect(decide({ operation, sameNameNode }).because[0]?.reason).toBe("StaleNode");
  });

  it("does not matter without a target cluster", () => {
    const decision = decide({ ...found, hasTarget: false });
    expect(decision.status?.currentStatus?.phase).toBe("Available");
  });

  it("is deleted, and then the machine is Failed, without its id", () => {
    expect(decide({ machine: marked }).actions).toEqual([remove]);
    expect(kindsOf(decide({ machine: marked, operation: running("delete") }))).toEqual([]);
    for (const operation of [succeeded("delete"), failed("delete", "NotFound")]) {
      const after = machineThen({ machine: marked, operation });
      expect(after.spec).not.toHaveProperty("providerID");
      expect(after.status).toMatchObject({
        currentStatus: { phase: "Failed" },
        lastOperation: { type: "Create", state: "Failed", description: "VM using old node obj old-node" },
      });
      expect(kindsOf(decideMachine(aSnapshot({ machine: after }), later(3_600_000)))).toEqual([]);
    }
  });

  it("keeps its machine, which names it, where it is not found with a class that was pointed elsewhere", () => {
    const requested = aMachineClass({ providerSpec: { region: "eu-1" } });
    const intent = { ...intentFor(marked, requested, { wantsToken: false }), staleNode: "old-node" };
    const machine = aMachine(marked, annotated(intentAnnotation(intent)));
    const operation = failed("delete", "NotFound");
    const classView = { state: "usable", machineClass: aMachineClass({ providerSpec: { region: "us-1" } }) } as const;
    const held = decide({ machine, operation, classView });
    expect([held.actions, held.status?.currentStatus?.phase]).toEqual([[], "Failed"]);
    const back = { state: "usable", machineClass: requested } as const;
    const outdated = { ...operation, inputs: "class-0/secret-1" };
    expect(decide({ machine, operation: outdated, classView: back }).actions).toEqual([remove]);
    expect(kindsOf(decide({ machine, operation, classView: back }))).toEqual(["PatchMachine", "AcknowledgeOperation"]);
  });

  it("is waited for while its deletion is pending, until the creation timeout has passed", () => {
    const operation = pending("delete");
    expect(decide({ machine: marked, operation })).toMatchObject({
      actions: [],
      status: {
        lastOperation: {
          state: "Processing",
          description: "VM using old node obj old-node; VM deletion is in progress: wiping disks",
        },
      },
      requeueAfterMs: 60_000,
    });
    expect(decide({ machine: marked, operation }, later(60_000)).actions).toEqual([remove]);
    const late = decide({ machine: marked, operation }, later(600_001));
    expect([late.actions, late.status?.currentStatus?.phase]).toEqual([[], "Failed"]);
  });

  it("makes the machine Failed also when the process died between the two writes", () => {
    const machine = aMachine(marked, { spec: { providerID: null } });
    const { status, actions } = decide({ machine });
    expect([status?.currentStatus?.phase, actions]).toEqual(["Failed", []]);
  });

  it("is deleted again when its deletion fails, and its id stays", () => {
    const operation = failed("delete", "Internal");
    const decision = decide({ machine: marked, operation });
    const machine = machineThen({ machine: marked, operation });
    expect(decision.requeueAfterMs).toBe(600_000);
    expect(machine.status?.currentStatus?.phase).toBe("CrashLoopBackOff");
    expect(machine.status?.lastOperation?.description).toMatch(/^VM using old node obj old-node; cannot delete/);
    const acknowledged = { ...operation, isAcknowledged: true };
    expect(decide({ machine, operation: acknowledged }, later(1)).requeueAfterMs).toBe(599_999);
    expect(decide({ machine, operation: acknowledged }, later(600_000)).actions).toEqual([remove]);
  });

  it("leaves a machine Failed with its id when the creation timeout passes first", () => {
    const late = aMachine(marked, createdAt("2025-01-01T00:00:00Z"));
    const decision = decide({ machine: late, operation: failed("delete", "Internal") });
    expect(decision.status?.currentStatus?.phase).toBe("Failed");
    expect(decision).not.toHaveProperty("requeueAfterMs");
  });

  it("waits for a class that was deleted", () => {
    const classView = unusable("MachineClassNotFound", "no class", true);
    expect(decide({ machine: marked, classView })).toMatchObject({
      actions: [],
      status: { lastOperation: { description: "no class" } },
    });
  });

  it("is deleted with its machine, and the node of the same name is never drained", () => {
    const machine = aMachine(marked, beingDeleted());
    const first = decideMachine(aSnapshot({ machine }), testNow);
    expect(first.actions).toEqual([remove]);
    expect(first.status?.lastOperation?.description).toBe("VM using old node obj old-node. Initiate VM deletion");
  });

  it("keeps the phase of a machine that had one", () => {
    const machine = aMachine(marked, inPhase("Running"), { spec: { providerID: null } });
    expect(decide({ machine }).status?.currentStatus?.phase).toBe("Running");
  });

  it("is found stale by the deletion that finds it, too", () => {
    for (const kind of ["create", "find"] as const) {
      const machine = aMachine(beingDeleted());
      const snapshot = aSnapshot({ machine, operation: succeeded(kind, vm), sameNameNode });
      const after = machineAfter(snapshot, decideMachine(snapshot, testNow));
      expect(after.metadata.labels).not.toHaveProperty("node");
      expect(readIntent(after)?.staleNode).toBe("old-node");
    }
  });

  it("is marked also on a machine with nothing but a name", () => {
    const { uid: _, ...metadata } = aMachine().metadata;
    const machine = { metadata, spec: {} };
    expect(kindsOf(decide({ machine, operation: succeeded("create", vm), sameNameNode }))).toEqual([
      "PatchMachine",
      "AcknowledgeOperation",
    ]);
    const deleted = {
      machine: {
        ...machine,
        spec: { providerID: "vm-1" },
        metadata: { ...metadata, ...annotated(marked.metadata.annotations ?? {}).metadata },
      },
      operation: succeeded("delete"),
    };
    expect(kindsOf(decide(deleted))).toEqual(["PatchMachine", "AcknowledgeOperation"]);
  });
});
