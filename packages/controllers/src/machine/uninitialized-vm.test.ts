import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { aMachine, annotated, type Change, inPhase } from "../testing/builders.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  kindsOf,
  lastly,
  machineAfter,
  running,
  succeeded,
  testNow,
  withVm,
} from "../testing/snapshots.ts";
import { intent, vm } from "../testing/creations.ts";
import type { OperationView } from "../model/operation.ts";
import { decideMachine } from "./decide.ts";

const node = itsNode();
const due = annotated({
  "machine.millwright.dev/creation-intent": JSON.stringify({ ...intent, needsInitialization: true }),
});
const initializeFailed = lastly("Create", "Failed", "Provider error: x. Initialize VM Instance");
const createFailed = {
  status: { lastOperation: { type: "Create", state: "Failed", errorCode: "Internal", description: "no VM" } },
};
const initialize = { kind: "StartOperation", operation: "initialize" };

describe("a machine with a Ready node and an uninitialized VM", () => {
  test.each<[string, readonly Change<Machine>[], OperationView | undefined]>([
    ["while the driver initializes it", [inPhase("CrashLoopBackOff"), createFailed], running("initialize")],
    ["after a failed attempt", [inPhase("CrashLoopBackOff")], failed("initialize", "Internal")],
    [
      "between two attempts",
      [inPhase("CrashLoopBackOff"), initializeFailed],
      failed("initialize", "Internal", { isAcknowledged: true }),
    ],
    [
      "when the driver has just reported it",
      [inPhase("CrashLoopBackOff")],
      succeeded("find", { ...vm, needsInitialization: true }),
    ],
    ["after a restart, by its last operation", [inPhase("CrashLoopBackOff"), initializeFailed], undefined],
    ["after a restart, by its intent", [inPhase("CrashLoopBackOff"), createFailed, due], undefined],
    ["after the creation timeout", [inPhase("Failed"), createFailed, due], undefined],
    ["after the creation timeout, by its last operation", [inPhase("Failed"), initializeFailed], undefined],
  ])("is not Running %s", (_, changes, operation) => {
    const machine = aMachine(withVm, ...changes);
    const snapshot = aSnapshot({ machine, operation, node });
    expect(machineAfter(snapshot, decideMachine(snapshot, testNow)).status?.currentStatus?.phase).toBe(
      machine.status?.currentStatus?.phase,
    );
  });

  test.each<[string, readonly Change<Machine>[]]>([
    ["CrashLoopBackOff", [inPhase("CrashLoopBackOff"), createFailed, due]],
    ["CrashLoopBackOff, left by MCM", [inPhase("CrashLoopBackOff"), initializeFailed]],
    ["the empty phase", [due]],
    ["Failed", [inPhase("Failed"), createFailed, due]],
  ])("is initialized by the next process, in %s, without a look-up that might not report it", (_, changes) => {
    const decision = decideMachine(aSnapshot({ machine: aMachine(withVm, ...changes), node }), testNow);
    expect(decision.actions).toEqual([initialize]);
  });

  test.each(["CrashLoopBackOff", "Failed"] as const)("is Running from %s once it is initialized", (phase) => {
    const machine = aMachine(withVm, inPhase(phase), initializeFailed, due);
    const snapshot = aSnapshot({ machine, operation: succeeded("initialize"), node });
    const created = machineAfter(snapshot, decideMachine(snapshot, testNow));
    const { status } = decideMachine(aSnapshot({ machine: created, node }), testNow);
    expect(status?.currentStatus?.phase).toBe("Running");
  });

  it("is Failed after the creation timeout, and goes on being initialized with the usual delay", () => {
    const machine = aMachine(withVm, inPhase("Failed"), initializeFailed, due);
    const operation = failed("initialize", "Internal");
    const snapshot = aSnapshot({ machine, operation, node });
    const decision = decideMachine(snapshot, testNow);
    expect([kindsOf(decision), decision.requeueAfterMs]).toEqual([["AcknowledgeOperation"], 5_000]);
    const waiting = decideMachine(aSnapshot({ machine, operation: running("initialize"), node }), testNow);
    expect(waiting.actions).toEqual([]);
  });
});

describe("the record of an uninitialized VM", () => {
  it("is written with the id of the VM, in the same patch", () => {
    const snapshot = aSnapshot({ operation: succeeded("create", { ...vm, needsInitialization: true }) });
    const decision = decideMachine(snapshot, testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation", "StartOperation"]);
    const { spec, metadata } = machineAfter(snapshot, decision);
    expect(spec.providerID).toBe("vm-1");
    expect(metadata.annotations?.["machine.millwright.dev/creation-intent"]).toContain('"needsInitialization":true');
  });

  test.each<[string, readonly Change<Machine>[]]>([
    ["Running", [inPhase("Running")]],
    ["Pending", [inPhase("Pending")]],
    ["Failed because its node did not join", [inPhase("Failed"), lastly("Create", "Failed", "did not join")]],
    ["Failed after its node was unhealthy", [inPhase("Failed"), lastly("HealthCheck", "Failed", "unhealthy")]],
  ])("does not matter to a machine that is %s", (_, changes) => {
    const decision = decideMachine(aSnapshot({ machine: aMachine(withVm, due, ...changes), node }), testNow);
    expect(decision.actions).not.toContainEqual(initialize);
    expect((decision.status ?? { currentStatus: { phase: "Running" } }).currentStatus?.phase).toBe("Running");
  });
});
