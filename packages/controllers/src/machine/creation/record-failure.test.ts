import type { MachineErrorCode } from "@millwright/core";
import { decodeMachineError, machineErrorCodes } from "@millwright/core/driver-host";
import { describe, expect, it, test } from "vitest";
import { aMachine, annotated, createdAt, inPhase } from "../../testing/builders.ts";
import { withIntent, decide, failedBefore, machineThen, startAgain } from "../../testing/creations.ts";
import { failed, later } from "../../testing/snapshots.ts";

describe("a driver call failed", () => {
  const codes = Object.keys(machineErrorCodes) as MachineErrorCode[];
  const soon = new Set<string>(["Unknown", "DeadlineExceeded", "Aborted", "Unavailable"]);
  const delayOf = (code: MachineErrorCode) =>
    code === "ResourceExhausted" ? 600_000 : soon.has(code) ? 5_000 : 180_000;

  test.each(codes)("%s makes the machine CrashLoopBackOff, is reported in MCM's words and backs off", (code) => {
    const decision = decide({ operation: failed("create", code) });
    expect(decision).toMatchObject({
      actions: [{ kind: "AcknowledgeOperation" }],
      status: {
        currentStatus: { phase: "CrashLoopBackOff", timeoutActive: false },
        lastOperation: {
          type: "Create",
          state: "Failed",
          errorCode: code,
          description: `Cloud provider message - machine codes error: code = [${code}] message = [no luck]`,
        },
      },
      requeueAfterMs: delayOf(code),
      because: [{ type: "Warning", reason: "FailedCreateVM", message: `${code}: no luck` }],
    });
  });

  test.each(codes)("%s makes a machine Failed whose creation timeout has passed", (code) => {
    const machine = aMachine(createdAt("2025-12-31T23:50:00Z"));
    const late = decide({ machine, operation: failed("create", code) }, later(1));
    expect(late.status?.currentStatus?.phase).toBe("Failed");
    expect(late).not.toHaveProperty("requeueAfterMs");
    const inTime = decide({ machine, operation: failed("create", code) });
    expect(inTime.status?.currentStatus?.phase).toBe("CrashLoopBackOff");
  });

  const remembering = aMachine({ status: { lastKnownState: "op-1" } });
  test.each(codes)("%s keeps the last known state only where the call is tried again soon", (code) => {
    const { status } = decide({ machine: remembering, operation: failed("create", code) });
    expect(status?.lastKnownState).toBe(delayOf(code) === 180_000 ? undefined : "op-1");
  });

  it("stores the driver's state", () => {
    const operation = failed("create", "Internal", { lastKnownState: "op-2" });
    expect(decide({ machine: remembering, operation }).status?.lastKnownState).toBe("op-2");
  });

  it("reports the same failure once, with its first time", () => {
    const machine = machineThen({ operation: failed("create", "Internal") });
    const again = decide(
      { machine, operation: failed("create", "Internal", { endedAt: later(180_000).getTime() }) },
      later(180_000),
    );
    expect(again.status).toEqual(machine.status);
    expect(again.because).toEqual([]);
  });

  it("shows the attempts of a failure that repeats, and does not repeat it in the history", () => {
    const machine = machineThen({ operation: failed("create", "Internal") });
    const operation = failed("create", "Internal", { failures: 4, endedAt: later(60_000).getTime() });
    const { status } = decide({ machine, operation }, later(60_000));
    expect(status?.lastOperation?.description).toMatch(
      /message = \[no luck\] \(attempt 4 failed at \S+, the first at /,
    );
    expect(decodeMachineError(status?.lastOperation?.description ?? "")?.message).toBe("no luck");
    expect(status?.history).toEqual(machine.status?.history);
    const next = failed("create", "Internal", { failures: 5, endedAt: later(90_000).getTime() });
    expect(decide({ machine: aMachine({ status: status ?? {} }), operation: next }, later(90_000)).status).toEqual(
      status,
    );
  });

  it("waits for its backoff once the failure is recorded", () => {
    const operation = failed("create", "Internal", { isAcknowledged: true });
    const machine = aMachine(withIntent, failedBefore());
    expect(decide({ machine, operation }, later(1_000))).toEqual({
      actions: [],
      because: [],
      requeueAfterMs: 179_000,
    });
    expect(decide({ machine, operation }, later(180_000)).actions).toEqual([startAgain]);
  });

  it("retries at once when class or secret have changed", () => {
    const operation = failed("create", "Internal", { isAcknowledged: true });
    const machine = aMachine(withIntent, failedBefore());
    const decision = decide({ machine, operation, inputs: "class-1/secret-2" }, later(1));
    expect(decision.actions).toEqual([startAgain]);
  });

  it("keeps the phase of a Running machine whose VM is not found", () => {
    const machine = aMachine(inPhase("Running"));
    const { status, requeueAfterMs } = decide({ machine, operation: failed("create", "Internal") });
    expect(status).toMatchObject({ currentStatus: { phase: "Running" }, lastOperation: { errorCode: "Internal" } });
    expect(requeueAfterMs).toBe(180_000);
  });

  it("keeps the previous message when only ids and times in it differ, and reports nothing again", () => {
    const text = (id: string) => `RunInstances refused, request id ${id} at 2026-01-01T00:00:00.123Z`;
    const machine = machineThen({
      operation: failed("create", "Internal", { message: text("0a1b2c3d-0000-4000-8000-000000000001") }),
    });
    const operation = failed("create", "Internal", { message: text("0a1b2c3d-0000-4000-8000-000000000002") });
    const again = decide({ machine, operation }, later(180_000));
    expect([again.status, again.because]).toEqual([machine.status, []]);
    const other = failed("create", "Internal", { message: "quota" });
    expect(decide({ machine, operation: other }, later(1)).because).toHaveLength(1);
  });

  it("truncates a long message of a provider", () => {
    const operation = failed("create", "Internal", { message: "x".repeat(100_000) });
    const { description = "" } = decide({ operation }).status?.lastOperation ?? {};
    expect(description.length).toBeLessThan(1_200);
    expect(decodeMachineError(description)?.code).toBe("Internal");
  });

  it.each([
    ["the annotation", annotated({ "node.machine.sapcloud.io/effective-creation-timeout": "9m" }), "Failed"],
    ["the spec", { spec: { creationTimeout: "9m" } }, "Failed"],
    ["the setting", {}, "CrashLoopBackOff"],
  ])("measures the creation timeout by %s", (_, change, phase) => {
    const operation = failed("create", "Internal");
    const { status } = decide({ machine: aMachine(change), operation });
    expect(status?.currentStatus?.phase).toBe(phase);
  });
});
