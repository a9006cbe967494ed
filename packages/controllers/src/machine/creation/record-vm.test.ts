import { describe, expect, it } from "vitest";
import { aMachine, annotated, inPhase } from "../../testing/builders.ts";
import { decide, machineThen, vm } from "../../testing/creations.ts";
import { aSnapshot, kindsOf, succeeded } from "../../testing/snapshots.ts";
import { needsCreation } from "../../model/provisioning.ts";

describe("a new VM", () => {
  it("stores id, node name and priority in one patch before the phase, which is Pending", () => {
    const decision = decide({ operation: succeeded("create", vm) });
    expect(decision).toEqual({
      actions: [
        {
          kind: "PatchMachine",
          patch: {
            metadata: {
              uid: "uid-machine",
              labels: { node: "node" },
              annotations: { "machinepriority.machine.sapcloud.io": "3" },
            },
            spec: { providerID: "vm-1" },
          },
        },
        { kind: "AcknowledgeOperation" },
      ],
      status: {
        lastOperation: {
          description: "Created VM on cloud provider; waiting for its Node to join the cluster",
          state: "Processing",
          type: "Create",
          lastUpdateTime: "2026-01-01T00:10:00Z",
        },
        currentStatus: { phase: "Pending", timeoutActive: true, lastUpdateTime: "2026-01-01T00:10:00Z" },
      },
      because: [{ type: "Normal", reason: "CreatedVM", message: "Created VM vm-1" }],
    });
  });

  it("is reported as adopted when it existed, created by an attempt whose response was lost", () => {
    const operation = succeeded("create", { ...vm, isAdopted: true });
    expect(decide({ operation }).because).toEqual([
      { type: "Normal", reason: "AdoptedVM", message: "Found VM vm-1 of an earlier attempt" },
    ]);
  });

  it("keeps a priority that a user has set, and replaces an empty one", () => {
    const patchFor = (value: string) => {
      const machine = aMachine(annotated({ "machinepriority.machine.sapcloud.io": value }));
      const [action] = decide({ machine, operation: succeeded("create", vm) }).actions;
      return action?.kind === "PatchMachine" ? action.patch : {};
    };
    expect(patchFor("1")).not.toHaveProperty("metadata.annotations");
    expect(patchFor("")).toHaveProperty(["metadata", "annotations", "machinepriority.machine.sapcloud.io"], "3");
  });

  it("removes the previous failure, last known state included", () => {
    const machine = aMachine(inPhase("CrashLoopBackOff"), {
      status: {
        lastKnownState: "op-1",
        lastOperation: { type: "Create", state: "Failed", errorCode: "Internal", description: "no" },
      },
    });
    const { status } = decide({ machine, operation: succeeded("create", vm) });
    expect(status).not.toHaveProperty("lastKnownState");
    const recorded = decide({ machine, operation: succeeded("create", { ...vm, lastKnownState: "op-2" }) });
    expect(recorded.status?.lastKnownState).toBe("op-2");
    expect(status?.lastOperation).not.toHaveProperty("errorCode");
    expect(status?.currentStatus?.phase).toBe("Pending");
  });

  it("stores missing ids as empty ones, which the next reconcile looks up", () => {
    const machine = machineThen({ operation: succeeded("create") });
    expect(needsCreation(aSnapshot({ machine }))).toBe(true);
  });

  it("gives a Running machine its lost id back and leaves its phase alone", () => {
    const machine = aMachine(inPhase("Running"));
    const decision = decide({ machine, operation: succeeded("create", vm) });
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
    expect(decision.status).toBeUndefined();
  });
});

describe("without a target cluster", () => {
  const result = {
    ...vm,
    addresses: [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: "node" },
      { type: "ExternalIP", address: "1.2.3.4" },
    ],
  };

  it("ends in Available with sorted addresses, each once, and no label", () => {
    const decision = decide({ hasTarget: false, operation: succeeded("create", result) });
    expect(decision.actions[0]).not.toHaveProperty("patch.metadata.labels");
    expect(decision.status).toMatchObject({
      addresses: [
        { type: "ExternalIP", address: "1.2.3.4" },
        { type: "Hostname", address: "node" },
        { type: "InternalIP", address: "10.0.0.1" },
      ],
      lastOperation: { description: "Created machine on cloud provider", state: "Successful", type: "Create" },
      currentStatus: { phase: "Available", timeoutActive: false },
    });
  });
});
