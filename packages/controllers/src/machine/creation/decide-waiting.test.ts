import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted, createdAt, inPhase } from "../../testing/builders.ts";
import {
  aSnapshot,
  kindsOf,
  later,
  machineAfter,
  testNow,
  unusable,
  waiting,
  withVm,
} from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { decideCreation } from "./decide-creation.ts";

const trouble = { code: "ResourceExhausted", message: "quota of 20 VMs is used up" } as const;
const text =
  "Waiting until a machine of class small can be made again - machine codes error: code = [ResourceExhausted] message = [quota of 20 VMs is used up]";

describe("a machine that waits for its turn", () => {
  it("writes nothing while the queue moves, and one sentence when it does not", () => {
    const operation = waiting("create");
    expect(decideCreation(aSnapshot({ operation }), later(1_000))).toEqual({
      actions: [],
      because: [],
      wakeAfterMs: 29_000,
    });
    const snapshot = aSnapshot({ operation });
    const late = decideCreation(snapshot, later(30_000));
    expect(late.status).toMatchObject({
      lastOperation: {
        type: "Create",
        state: "Processing",
        description: "Waiting until other machines of class small have been made",
      },
    });
    expect(late.status).not.toHaveProperty("currentStatus");
    const machine = machineAfter(snapshot, late);
    expect(decideCreation(aSnapshot({ machine, operation }), later(3_600_000)).status).toEqual(machine.status);
  });

  it("leaves a failure alone that says more than the wait, and is not made Failed by waiting", () => {
    const machine = aMachine(createdAt("2025-01-01T00:00:00Z"), inPhase("CrashLoopBackOff"), {
      status: { lastOperation: { type: "Create", state: "Failed", errorCode: "Internal", description: "no" } },
    });
    expect(decideCreation(aSnapshot({ machine, operation: waiting("create") }), later(60_000))).toEqual({
      actions: [],
      because: [],
    });
  });

  it("reads like one that has tried when its class is in trouble: the autoscaler reads the code", () => {
    const operation = waiting("create", trouble);
    const snapshot = aSnapshot({ operation });
    const decision = decideCreation(snapshot, testNow);
    expect(decision).toMatchObject({
      actions: [],
      because: [],
      status: {
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: { type: "Create", state: "Failed", errorCode: "ResourceExhausted", description: text },
      },
      // Ten of the twenty minutes are over.
      wakeAfterMs: 600_001,
    });
    const machine = machineAfter(snapshot, decision);
    const other = waiting("create", { ...trouble, message: "quota of 21 VMs is used up" });
    expect(decideCreation(aSnapshot({ machine, operation: other }), later(1)).status).toEqual(machine.status);
  });

  it("is Failed after the creation timeout, and waits no more", () => {
    const machine = aMachine(createdAt("2025-01-01T00:00:00Z"));
    const decision = decideCreation(aSnapshot({ machine, operation: waiting("create", trouble) }), testNow);
    expect(decision.actions).toEqual([{ kind: "CancelOperation" }]);
    expect(decision.status?.currentStatus?.phase).toBe("Failed");
    expect(decision).not.toHaveProperty("wakeAfterMs");
  });

  it("keeps its phase when it has only lost its id", () => {
    const decision = decideCreation(
      aSnapshot({ machine: aMachine(inPhase("Running")), operation: waiting("create", trouble) }),
      testNow,
    );
    expect(decision.status?.currentStatus?.phase).toBe("Running");
    expect(decision).not.toHaveProperty("wakeAfterMs");
  });

  it("begins anew when its class or secret has changed", () => {
    const decision = decideCreation(aSnapshot({ operation: waiting("create", trouble), inputs: "class-2" }), testNow);
    expect(kindsOf(decision)).toEqual(["CancelOperation", "PatchMachine", "StartOperation"]);
  });

  it("waits no more when it cannot be made as it is declared", () => {
    const classView = unusable("MachineClassNotFound", "no class", true);
    const decision = decideCreation(aSnapshot({ operation: waiting("create"), classView }), testNow);
    expect([kindsOf(decision), decision.status?.lastOperation?.description]).toEqual([["CancelOperation"], "no class"]);
  });

  it.each([
    ["is given up by somebody", inPhase("Failed"), []],
    ["got a VM from elsewhere", withVm, ["StartOperation"]],
    ["runs", { ...withVm, ...inPhase("Running") }, []],
  ])("waits no more when it %s", (_, change, more) => {
    const decision = decideMachine(aSnapshot({ machine: aMachine(change), operation: waiting("create") }), testNow);
    expect(kindsOf(decision)).toEqual(["CancelOperation", ...more]);
  });

  it("waits no more when it is deleted", () => {
    const machine = aMachine(beingDeleted());
    const decision = decideMachine(aSnapshot({ machine, operation: waiting("create", trouble) }), testNow);
    expect(kindsOf(decision)).toEqual(["CancelOperation", "StartOperation"]);
    expect(decision.status?.currentStatus?.phase).toBe("Terminating");
  });

  it("needs no name of a class to say what it waits for", () => {
    const machine = aMachine({ spec: { class: null } });
    const decision = decideCreation(aSnapshot({ machine, operation: waiting("create", trouble) }), testNow);
    expect(decision.status?.lastOperation?.description).toContain("of class  can be made");
  });
});
