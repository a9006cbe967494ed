import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted, createdAt, inPhase } from "../../testing/builders.ts";
import { aSnapshot, kindsOf, later, testNow, unusable, waiting, withVm } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { decide, machineThen } from "../../testing/creations.ts";

const classBackoff = { code: "ResourceExhausted", message: "quota of 20 VMs is used up" } as const;
const text =
  "Waiting for another machine of class small to be created first - machine codes error: code = [ResourceExhausted] message = [quota of 20 VMs is used up]";

describe("a machine that waits for its turn", () => {
  it("writes nothing while the queue moves, and one sentence when it does not", () => {
    const operation = waiting("create");
    expect(decide({ operation }, later(1_000))).toEqual({
      actions: [],
      because: [],
      requeueAfterMs: 29_000,
    });
    const late = decide({ operation }, later(30_000));
    expect(late.status).toMatchObject({
      lastOperation: {
        type: "Create",
        state: "Processing",
        description: "Waiting for the creation of other machines of class small",
      },
    });
    expect(late.status).not.toHaveProperty("currentStatus");
    const machine = machineThen({ operation }, later(30_000));
    expect(decide({ machine, operation }, later(3_600_000)).status).toEqual(machine.status);
  });

  it("keeps the status of a failure, and is not made Failed by waiting", () => {
    const machine = aMachine(createdAt("2025-01-01T00:00:00Z"), inPhase("CrashLoopBackOff"), {
      status: { lastOperation: { type: "Create", state: "Failed", errorCode: "Internal", description: "no" } },
    });
    expect(decide({ machine, operation: waiting("create") }, later(60_000))).toEqual({
      actions: [],
      because: [],
    });
  });

  it("has the status of a failed creation during a class backoff: the autoscaler reads the code", () => {
    const operation = waiting("create", classBackoff);
    const decision = decide({ operation });
    expect(decision).toMatchObject({
      actions: [],
      because: [],
      status: {
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: { type: "Create", state: "Failed", errorCode: "ResourceExhausted", description: text },
      },
      // Ten of the twenty minutes are over.
      requeueAfterMs: 600_001,
    });
    const machine = machineThen({ operation });
    const other = waiting("create", { ...classBackoff, message: "quota of 21 VMs is used up" });
    expect(decide({ machine, operation: other }, later(1)).status).toEqual(machine.status);
  });

  it("is Failed after the creation timeout, and waits no more", () => {
    const machine = aMachine(createdAt("2025-01-01T00:00:00Z"));
    const decision = decide({ machine, operation: waiting("create", classBackoff) });
    expect(decision.actions).toEqual([{ kind: "CancelOperation" }]);
    expect(decision.status?.currentStatus?.phase).toBe("Failed");
    expect(decision).not.toHaveProperty("requeueAfterMs");
  });

  it("keeps its phase when it has only lost its id", () => {
    const decision = decide({ machine: aMachine(inPhase("Running")), operation: waiting("create", classBackoff) });
    expect(decision.status?.currentStatus?.phase).toBe("Running");
    expect(decision).not.toHaveProperty("requeueAfterMs");
  });

  it("starts again when its class or secret has changed", () => {
    const decision = decide({ operation: waiting("create", classBackoff), inputs: "class-2" });
    expect(kindsOf(decision)).toEqual(["CancelOperation", "PatchMachine", "StartOperation"]);
  });

  it("ends when the machine cannot be created as specified", () => {
    const classView = unusable("MachineClassNotFound", "no class", true);
    const decision = decide({ operation: waiting("create"), classView });
    expect([kindsOf(decision), decision.status?.lastOperation?.description]).toEqual([["CancelOperation"], "no class"]);
  });

  it.each([
    ["was set to Failed by another client", inPhase("Failed"), []],
    ["got a VM from elsewhere", withVm, ["StartOperation"]],
    ["runs", { ...withVm, ...inPhase("Running") }, []],
  ])("waits no more when it %s", (_, change, more) => {
    const decision = decideMachine(aSnapshot({ machine: aMachine(change), operation: waiting("create") }), testNow);
    expect(kindsOf(decision)).toEqual(["CancelOperation", ...more]);
  });

  it("waits no more when it is deleted", () => {
    const machine = aMachine(beingDeleted());
    const decision = decideMachine(aSnapshot({ machine, operation: waiting("create", classBackoff) }), testNow);
    expect(kindsOf(decision)).toEqual(["CancelOperation", "StartOperation"]);
    expect(decision.status?.currentStatus?.phase).toBe("Terminating");
  });

  it("does not need the name of a class to report what it waits for", () => {
    const machine = aMachine({ spec: { class: null } });
    const decision = decide({ machine, operation: waiting("create", classBackoff) });
    expect(decision.status?.lastOperation?.description).toContain("of class  to be created");
  });
});
