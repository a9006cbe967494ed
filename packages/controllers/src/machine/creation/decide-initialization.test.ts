import type { MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { describe, expect, it, test } from "vitest";
import { aMachine, createdAt, inPhase } from "../../testing/builders.ts";
import { failed, kindsOf, later, succeeded, unusable, withVm } from "../../testing/snapshots.ts";
import { decide, machineThen, vm } from "../../testing/creations.ts";

const start = (operation: string) => ({ kind: "StartOperation", operation });
const known = aMachine(withVm);

describe("a VM that was created for another Machine", () => {
  const operation = succeeded("find", { ...vm, vmName: "lost" });
  const annotations = { "machine.millwright.dev/vm-name": "lost" };

  it("is stored by the name of that Machine before the next call, and the result stays until then", () => {
    const decision = decide({ machine: known, operation });
    expect(decision.actions).toEqual([
      { kind: "PatchMachine", patch: { metadata: { uid: known.metadata.uid, annotations } } },
    ]);
    expect(decision.because).toMatchObject([{ type: "Normal", reason: "AdoptedVM" }]);
    const { uid: _, ...unnamed } = known.metadata;
    expect(decide({ machine: { ...known, metadata: unnamed }, operation }).actions).toEqual([
      { kind: "PatchMachine", patch: { metadata: { annotations } } },
    ]);
  });

  it("completes the creation once the name is stored", () => {
    const machine = { ...known, metadata: { ...known.metadata, annotations } };
    expect(kindsOf(decide({ machine, operation }))).toEqual(["AcknowledgeOperation"]);
  });
});

describe("a VM that needs initialization", () => {
  it("is stored by its id, then initialized by another call, and the phase waits", () => {
    const decision = decide({ operation: succeeded("create", { ...vm, needsInitialization: true }) });
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation", "StartOperation"]);
    expect(decision.actions[2]).toEqual(start("initialize"));
    expect(decision.status).toBeUndefined();
    expect(decision.because).toMatchObject([{ reason: "CreatedVM" }]);
  });

  it("is stored without a class, too, and the next reconcile reports the missing class", () => {
    const classView = unusable("MachineClassNotFound", "no class", true);
    const result = { ...vm, needsInitialization: true };
    expect(kindsOf(decide({ classView, operation: succeeded("create", result) }))).toEqual([
      "PatchMachine",
      "AcknowledgeOperation",
    ]);
    for (const operation of [undefined, succeeded("find", result)]) {
      const decision = decide({ machine: known, classView, operation });
      expect([decision.actions, decision.status?.lastOperation?.description]).toEqual([[], "no class"]);
    }
  });

  it("is Pending once it is initialized", () => {
    const decision = decide({ machine: known, operation: succeeded("initialize") });
    expect(kindsOf(decision)).toEqual(["AcknowledgeOperation"]);
    expect(decision.status?.currentStatus).toMatchObject({ phase: "Pending", timeoutActive: true });
    expect(decision.because).toEqual([]);
  });

  test.each(Object.keys(machineErrorCodes) as MachineErrorCode[])(
    "reports %s in MCM's words and retries soon, without a second VM",
    (code) => {
      const remedy = code === "NotFound" ? ". Correct spec.providerID or the class, or delete the Machine" : "";
      const message = `no luck${remedy}`;
      const remembering = aMachine(withVm, { status: { lastKnownState: "op-1" } });
      const change = { machine: remembering, operation: failed("initialize", code) };
      const decision = decide(change);
      expect(decision).toMatchObject({
        actions: [{ kind: "AcknowledgeOperation" }],
        status: {
          lastKnownState: "op-1",
          currentStatus: { phase: "CrashLoopBackOff" },
          lastOperation: {
            type: "Create",
            state: "Failed",
            errorCode: code,
            description: `Provider error: machine codes error: code = [${code}] message = [${message}]. Initialize VM Instance`,
          },
        },
        requeueAfterMs: code === "ResourceExhausted" || code === "NotFound" ? 600_000 : 5_000,
        because: [{ reason: "FailedInitializeVM", message: `${code}: ${message}` }],
      });
      const machine = machineThen(change);
      const operation = failed("initialize", code, { isAcknowledged: true });
      expect(decide({ machine, operation }, later(1)).actions).toEqual([]);
      expect(decide({ machine, operation }, later(600_000)).actions).toEqual([start("initialize")]);
    },
  );

  it("is Failed after the creation timeout", () => {
    const machine = aMachine(withVm, createdAt("2025-01-01T00:00:00Z"));
    const decision = decide({ machine, operation: failed("initialize", "Internal") });
    expect(decision.status?.currentStatus?.phase).toBe("Failed");
  });
});

describe("a VM whose id is stored and whose phase is not, after a crash", () => {
  it("is looked up: its initialization may be due", () => {
    expect(decide({ machine: known }).actions).toEqual([start("find")]);
    const due = succeeded("find", { ...vm, needsInitialization: true });
    expect(decide({ machine: known, operation: due }).actions).toEqual([
      { kind: "AcknowledgeOperation" },
      start("initialize"),
    ]);
    const { status } = decide({ machine: known, operation: succeeded("find", vm) });
    expect(status?.currentStatus?.phase).toBe("Pending");
  });

  test.each(["NotFound", "Unimplemented"] as const)(
    "is believed when the driver answers %s, and initialized: the cloud may show it late",
    (code) => {
      const decision = decide({ machine: known, operation: failed("find", code) });
      expect(decision).toEqual({ actions: [{ kind: "AcknowledgeOperation" }, start("initialize")], because: [] });
    },
  );

  it("is looked up again when the driver fails, which is reported like a failed creation", () => {
    const operation = failed("find", "Internal");
    const decision = decide({ machine: known, operation });
    expect(decision.status?.lastOperation?.description).toMatch(/^Cloud provider message - /);
    const acknowledged = { ...operation, isAcknowledged: true };
    expect(decide({ machine: known, operation: acknowledged }, later(180_000)).actions).toEqual([start("find")]);
  });

  it("is not reconciled without a class, which is reported; an invalid spec or missing user data do not matter", () => {
    const classView = unusable("MachineClassNotFound", "no class", true);
    const decision = decide({ machine: known, classView });
    expect([decision.actions, decision.status?.lastOperation?.description]).toEqual([[], "no class"]);
    const problems = [{ path: "spec", message: "is wrong", kind: "invalid" as const }];
    expect(decide({ machine: known, problems }).actions).toEqual([start("find")]);
  });

  it("ignores the result of another call", () => {
    const operation = failed("create", "Internal", { isAcknowledged: true });
    expect(decide({ machine: known, operation }).actions).toEqual([start("find")]);
  });

  it("gets its addresses from the driver where there is no cluster to join", () => {
    const result = { nodeName: "host", addresses: [{ type: "InternalIP", address: "10.0.0.1" }] };
    const machine = aMachine({ spec: { providerID: "vm-1" } });
    const { status } = decide({ hasTarget: false, machine, operation: succeeded("find", result) });
    expect(status?.addresses).toEqual([{ type: "Hostname", address: "host" }, ...result.addresses]);
    expect(status?.currentStatus?.phase).toBe("Available");
  });

  it("has no addresses when the driver knows none, but for the host name of an object that MCM created", () => {
    const machine = aMachine({ spec: { providerID: "vm-1" } });
    const statusOf = (of: typeof machine) =>
      decide({ hasTarget: false, machine: of, operation: succeeded("initialize") }).status;
    expect(statusOf(machine)).not.toHaveProperty("addresses");
    expect(statusOf(known)?.addresses).toEqual([{ type: "Hostname", address: "node" }]);
  });

  it("leaves CrashLoopBackOff", () => {
    const machine = aMachine(withVm, inPhase("CrashLoopBackOff"));
    const { status } = decide({ machine, operation: succeeded("find", vm) });
    expect(status?.currentStatus?.phase).toBe("Pending");
  });
});
