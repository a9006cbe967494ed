import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted, createdAt, inPhase } from "../../testing/builders.ts";
import { withIntent, decide, failedBefore, machineThen, startCreate } from "../../testing/creations.ts";
import { aSnapshot, kindsOf, later, pending, unusable } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const operation = pending("create");
const provisioning = { type: "Create", state: "Processing", description: "Provisioning VM: wiping disks" };
const checked = { ...startCreate, launch: { ...startCreate.launch, isAccepted: true } };

describe("a creation that is pending", () => {
  it("is recorded with the driver's message, without an error, with one event", () => {
    expect(decide({ operation })).toEqual({
      actions: [],
      status: {
        lastOperation: {
          ...provisioning,
          lastUpdateTime: "2026-01-01T00:10:00Z",
          details: { reason: "ProvisioningVm", message: "wiping disks", time: "2026-01-01T00:10:00Z" },
        },
      },
      because: [{ type: "Normal", reason: "ProvisioningVM", message: "Provisioning VM: wiping disks" }],
      requeueAfterMs: 60_000,
    });
    const machine = machineThen({ operation });
    expect(decide({ machine, operation }, later(1_000))).toEqual({
      actions: [],
      status: machine.status,
      because: [],
      requeueAfterMs: 59_000,
    });
  });

  it("records another message without another event, and nothing when only a request id differs", () => {
    const machine = machineThen({ operation: pending("create", "job 0123456789abcdef0: wiping disks") });
    const same = decide({ machine, operation: pending("create", "job fedcba98765432100: wiping disks") });
    expect([same.status, same.because]).toEqual([machine.status, []]);
    const next = decide({ machine, operation: pending("create", "installing") });
    expect(next.status?.lastOperation?.description).toBe("Provisioning VM: installing");
    expect(next.because).toEqual([]);
  });

  it("is checked when it is due, with the same token and without throttling", () => {
    const machine = machineThen({ machine: aMachine(withIntent), operation });
    const decision = decide({ machine, operation }, later(60_000));
    expect(decision).toEqual({ actions: [checked], status: machine.status, because: [] });
  });

  it("is checked at once by the next process, which knows it by the last operation alone", () => {
    const machine = machineThen({ machine: aMachine(withIntent), operation });
    expect(decide({ machine })).toEqual({ actions: [checked], because: [] });
  });

  it("replaces the previous failure, and keeps the phase", () => {
    const { status } = decide({ machine: aMachine(failedBefore()), operation });
    expect(status).toMatchObject({ currentStatus: { phase: "CrashLoopBackOff" }, lastOperation: provisioning });
    expect(status?.lastOperation).not.toHaveProperty("errorCode");
  });

  it("makes the machine Failed when the creation timeout has passed, however far away the next check is", () => {
    const slow = pending("create", "wiping disks", 3_600_000);
    // The machine is ten minutes old, and has twenty.
    expect(decide({ operation: slow }).requeueAfterMs).toBe(600_001);
    const machine = machineThen({ operation: slow });
    expect(decide({ machine, operation: slow }, later(600_000)).status).toEqual(machine.status);
    const decision = decide({ machine, operation: slow }, later(600_001));
    const description = "VM of machine machine was not provisioned in 20m0s: wiping disks";
    expect(decision).toMatchObject({
      actions: [{ kind: "CancelOperation" }],
      status: {
        currentStatus: { phase: "Failed" },
        lastOperation: { type: "Create", state: "Failed", errorCode: "DeadlineExceeded", description },
      },
      because: [{ type: "Warning", reason: "FailedCreateVM", message: description }],
    });
    expect(decision).not.toHaveProperty("requeueAfterMs");
  });

  it("has no deadline for a machine that is past its creation", () => {
    const machine = aMachine(inPhase("Running"), createdAt("2020-01-01T00:00:00Z"));
    expect(decide({ machine, operation })).toMatchObject({ actions: [], requeueAfterMs: 60_000 });
  });

  it("reports that its class is unusable meanwhile, and continues when it is usable again", () => {
    const machine = machineThen({ machine: aMachine(withIntent), operation });
    const classView = unusable("MachineClassNotFound", "MachineClass small does not exist");
    const rejected = machineThen({ machine, operation, classView });
    expect(rejected.status?.lastOperation).toMatchObject({ state: "Failed", errorCode: "InvalidArgument" });
    expect(decide({ machine: rejected, operation }).status?.lastOperation).toMatchObject(provisioning);
  });

  it("ends with the deletion of the machine: the driver looks for a VM, then deletes it", () => {
    const decision = decideMachine(aSnapshot({ machine: aMachine(withIntent, beingDeleted()), operation }), later(0));
    expect(kindsOf(decision)).toContain("StartOperation");
    expect(decision.actions).toContainEqual({ kind: "StartOperation", operation: "find" });
  });
});
