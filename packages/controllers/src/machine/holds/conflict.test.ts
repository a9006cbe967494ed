import { type Machine, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { aMachine, beingDeleted, type Change, createdAt, inPhase } from "../../testing/builders.ts";
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
  withVm,
} from "../../testing/snapshots.ts";
import { intent, vm } from "../../testing/creations.ts";
import type { OperationView } from "../../model/operation.ts";
import { decideMachine } from "../decide.ts";
import { hasConflict, withoutConflict } from "./conflict.ts";

const holder = { name: "real", providerId: "vm-1" };
const message = "VM vm-1 belongs to Machine real. Delete Machine machine; the VM is kept";
const conflict = { type: "Conflict", status: "True", reason: "VMOfOtherMachine", message };
const inConflict: Change<Machine> = {
  status: { conditions: [{ ...conflict, lastTransitionTime: "2026-01-01T00:00:00Z" }] },
};
const annotation = "machine.millwright.dev/creation-intent";

describe("a machine whose VM belongs to another Machine", () => {
  test.each<[string, string]>([
    ["", "CrashLoopBackOff"],
    ["CrashLoopBackOff", "CrashLoopBackOff"],
    ["Pending", "Pending"],
    ["Running", "Unknown"],
    ["Available", "Failed"],
    ["Unknown", "Unknown"],
    ["Failed", "Failed"],
  ])("in phase %j is %j with condition Conflict and one event, and calls no driver", (phase, expected) => {
    const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };
    const machine = aMachine(withVm, inPhase(phase as "Running"), ready);
    const snapshot = aSnapshot({ machine, holder });
    const decision = decideMachine(snapshot, testNow);
    const { status } = machineAfter(snapshot, decision);
    expect([decision.actions, status?.currentStatus?.phase]).toEqual([[], expected]);
    expect(status?.conditions).toMatchObject([conflict]);
    expect(decision.because).toEqual([{ type: "Warning", reason: "Conflict", message }]);
  });

  test.each<[string, OperationView | undefined]>([
    ["nothing", undefined],
    ["a look-up", succeeded("find", vm)],
    ["an initialization", failed("initialize", "Internal", { isAcknowledged: true })],
  ])("is written once, and calls no driver after %s", (_, operation) => {
    for (const phase of ["", "Pending", "Running", "Unknown"] as const) {
      const before = aSnapshot({ machine: aMachine(withVm, inPhase(phase, testNow.toISOString())), holder, operation });
      const machine = machineAfter(before, decideMachine(before, testNow));
      const snapshot = aSnapshot({ machine, holder, operation });
      const again = decideMachine(snapshot, later(1_000));
      expect([again.actions, again.because]).toEqual([[], []]);
      expect(machineAfter(snapshot, again)).toEqual(machine);
    }
  });

  test.each(["", "Pending"] as const)(
    "is Failed from %j after the creation timeout, so that its set replaces it",
    (phase) => {
      const machine = aMachine(withVm, inPhase(phase), inConflict, createdAt("2025-12-01T00:00:00Z"));
      const { status } = decideMachine(aSnapshot({ machine, holder }), testNow);
      expect(status?.currentStatus?.phase).toBe("Failed");
    },
  );

  it("is Failed after the health timeout", () => {
    const machine = aMachine(withVm, inPhase("Unknown", "2025-12-01T00:00:00Z"), inConflict);
    const decision = decideMachine(aSnapshot({ machine, holder }), testNow);
    expect([kindsOf(decision), decision.status?.currentStatus?.phase]).toEqual([["StartRemediation"], "Failed"]);
  });

  test.each<[string, OperationView | undefined]>([
    ["", undefined],
    ["after the driver answered with it", succeeded("create", vm)],
    ["after a look-up found it", succeeded("find", vm)],
    ["while its deletion is pending", pending("delete")],
  ])("is deleted without drain and driver call %s", (_, operation) => {
    for (const known of [withVm, {}]) {
      const machine = aMachine(known, beingDeleted());
      const decision = decideMachine(aSnapshot({ machine, holder, operation }), testNow);
      expect(decision.actions).toEqual([
        { kind: "PatchMachine", patch: { metadata: expect.objectContaining({ finalizers: [] }) } },
      ]);
      expect(decision.because).toMatchObject([
        { reason: "Conflict", message: "Only the object is deleted: VM vm-1 belongs to Machine real" },
      ]);
    }
  });

  it("is not deleted before a running creation has answered", () => {
    const machine = aMachine(beingDeleted());
    expect(decideMachine(aSnapshot({ machine, holder, operation: running("create") }), testNow).actions).toEqual([]);
  });

  it("loses the condition when the VM is its own again", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), inConflict);
    const { status } = decideMachine(aSnapshot({ machine }), testNow);
    expect(status?.conditions).toEqual([]);
    const going = decideMachine(aSnapshot({ machine: aMachine(withVm, inConflict, beingDeleted()) }), testNow);
    expect(kindsOf(going)).not.toContain("PatchMachine");
    expect(phaseOf({ status: going.status ?? {} })).toBe("Terminating");
  });
});

describe("the VM of another Machine with which a driver answers a creation", () => {
  it("is not stored; the creation counts as failed, and a later process knows it", () => {
    const snapshot = aSnapshot({ operation: succeeded("create", vm), holder });
    const decision = decideMachine(snapshot, testNow);
    expect(decision.actions).toEqual([
      expect.objectContaining({ kind: "PatchMachine" }),
      {
        kind: "FailOperation",
        code: "AlreadyExists",
        message: "the driver returned VM vm-1, which belongs to Machine real",
      },
    ]);
    const machine = machineAfter(snapshot, decision);
    expect(machine.spec.providerID).toBeUndefined();
    expect(machine.metadata.annotations?.[annotation]).toContain('"foreignVm":"vm-1"');
    const again = decideMachine(aSnapshot({ machine, operation: succeeded("create", vm), holder }), testNow);
    expect(kindsOf(again)).toEqual(["FailOperation"]);
  });

  it("is remembered by the next attempt, which may bring another VM", () => {
    const recorded = { [annotation]: JSON.stringify({ ...intent, foreignVm: "vm-1" }) };
    const machine = aMachine({ metadata: { annotations: recorded } });
    const next = decideMachine(aSnapshot({ machine, holder }), testNow);
    expect(kindsOf(next)).toEqual(["StartOperation"]);
    const other = aSnapshot({ machine, operation: succeeded("create", { providerId: "vm-2", nodeName: "n" }) });
    expect(machineAfter(other, decideMachine(other, testNow)).spec.providerID).toBe("vm-2");
  });
});

test("a machine without status has no conflict to remove", () => {
  const machine = aMachine({ status: null });
  expect(hasConflict(machine)).toBe(false);
  expect(withoutConflict(machine).status?.conditions).toEqual([]);
});
