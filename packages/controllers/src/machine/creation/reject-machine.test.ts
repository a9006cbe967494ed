import { describe, expect, it, test } from "vitest";
import { aMachine, aMachineClass, createdAt, inPhase } from "../../testing/builders.ts";
import { withIntent, decide, failedBefore, machineThen, startAgain, vm } from "../../testing/creations.ts";
import { kindsOf, later, succeeded, unusable } from "../../testing/snapshots.ts";

describe("a machine that cannot be followed", () => {
  const problems = [{ path: "spec.class.name", message: "is required", kind: "required" as const }];
  const boot = {
    reason: "InvalidSecret",
    problem: 'MachineClass "small": key "userData" is missing in Secret "small"',
  };
  const cases = [
    ["its own spec is wrong", { problems }, "InvalidMachine", "spec.class.name: is required"],
    ["its class is missing", { classView: unusable("MachineClassNotFound", "no class", true) }, undefined, "no class"],
    ["its class is invalid", { classView: unusable("InvalidMachineClass", "bad class") }, undefined, "bad class"],
    ["no driver is there", { classView: unusable("DriverNotFound", "no driver") }, undefined, "no driver"],
    ["its secret is missing", { classView: unusable("SecretNotFound", "no secret") }, undefined, "no secret"],
    [
      "its user data is missing",
      { classView: { state: "usable", machineClass: aMachineClass(), unmetPrecondition: boot } },
      "InvalidSecret",
      boot.problem,
    ],
  ] as const;

  test.each(cases)("reports in one sentence that %s, and waits for a change", (_, change, reason, message) => {
    const decision = decide(change);
    expect(decision).toMatchObject({
      actions: [],
      status: {
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: { type: "Create", state: "Failed", errorCode: "InvalidArgument", description: message },
      },
      because: [{ type: "Warning", ...(reason === undefined ? {} : { reason }), message }],
    });
    expect(decision).not.toHaveProperty("requeueAfterMs");
  });

  test.each(cases)("does not repeat itself while %s", (_, change) => {
    const machine = machineThen(change);
    const again = decide({ ...change, machine }, later(3_600_000));
    expect(again.status).toEqual(machine.status);
    expect(again.because).toEqual([]);
  });

  it("is not made Failed by time: only a change of the named object helps", () => {
    const machine = aMachine(createdAt("2025-01-01T00:00:00Z"));
    const { status } = decide({ machine, problems });
    expect(status?.currentStatus?.phase).toBe("CrashLoopBackOff");
  });

  it("keeps its phase when it was past creation", () => {
    const { status } = decide({ machine: aMachine(inPhase("Running")), problems });
    expect(status?.currentStatus?.phase).toBe("Running");
  });

  it("still records a VM that was created before", () => {
    const decision = decide({ problems, operation: succeeded("create", vm) });
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
  });

  it("creates as soon as the precondition is met", () => {
    const machine = aMachine(withIntent, failedBefore("InvalidArgument"));
    expect(decide({ machine }).actions).toEqual([startAgain]);
  });
});
