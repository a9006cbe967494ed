import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted, type Change, inPhase } from "../../testing/builders.ts";
import { itsNode, lastly, withVm } from "../../testing/snapshots.ts";
import type { MachineFacts } from "./facts.ts";
import { facts, going, running, conditionText, withConditions } from "../../testing/written-conditions.ts";

describe("InfrastructureReady", () => {
  it.each<[string, Change<Machine>, Partial<MachineFacts>, string]>([
    ["of a machine that was just made", {}, {}, "False NotProvisioned Waiting for the VM to be created"],
    ["of one whose VM is there", withVm, {}, "False NotProvisioned Waiting for the VM to be created"],
    ["of one that runs", { ...withVm, ...inPhase("Pending") }, {}, "True Provisioned"],
    [
      "of one that runs under a class that is gone",
      { ...withVm, ...inPhase("Running") },
      { hasClass: false },
      "True Provisioned",
    ],
    ["of one that never had a class", {}, { hasClass: false }, "False ObjectDoesNotExist MachineClass does not exist"],
    [
      "of one whose creation fails",
      {
        status: {
          ...inPhase("CrashLoopBackOff").status,
          ...lastly("Create", "Failed", "Cloud provider message - no quota").status,
        },
      },
      {},
      "False NotProvisioned Cloud provider message - no quota",
    ],
    [
      "of one whose creation failed for good",
      { status: { ...inPhase("Failed").status, ...lastly("Create", "Failed", "no quota").status } },
      {},
      "False NotProvisioned no quota",
    ],
  ])("%s", (_, change, more, expected) => {
    expect(conditionText("InfrastructureReady", facts(aMachine(change), more))).toBe(expected);
  });

  it("does not repeat all of a text without end", () => {
    const machine = aMachine(inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "x".repeat(5_000)));
    expect(conditionText("InfrastructureReady", facts(machine))?.length).toBeLessThan(600);
  });
});

// Cases of Cluster API, `machine_controller_status_test.go`, and ours.
describe("NodeReady and NodeHealthy", () => {
  it.each<[string, Partial<MachineFacts>, string, string]>([
    ["a healthy node", {}, "True NodeReady", "True NodeHealthy"],
    [
      "a kubelet that is not ready",
      withConditions({ type: "Ready", status: "False", message: "PLEG is not healthy" }),
      "False NodeNotReady * Node.Ready: PLEG is not healthy",
      "False NodeNotHealthy * Node.Ready: PLEG is not healthy",
    ],
    [
      "a kubelet without a message",
      withConditions({ type: "Ready", status: "False" }),
      "False NodeNotReady",
      "False NodeNotHealthy * Node.Ready: Condition is False",
    ],
    [
      "a kubelet that went silent",
      withConditions(
        ...["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
          type,
          status: "Unknown",
          message: "Kubelet stopped posting node status.",
        })),
      ),
      "Unknown NodeReadyUnknown * Node.Ready: Kubelet stopped posting node status.",
      "Unknown NodeHealthyUnknown * Node.AllConditions: Kubelet stopped posting node status.",
    ],
    [
      "a pressure that is not known",
      withConditions({ type: "MemoryPressure", status: "Unknown" }),
      "True NodeReady",
      "Unknown NodeHealthyUnknown * Node.MemoryPressure: Condition is Unknown",
    ],
    [
      "a condition that the configuration lists",
      withConditions({ type: "KernelDeadlock", status: "True", message: "stuck" }),
      "True NodeReady",
      "False NodeNotHealthy * Node.KernelDeadlock: stuck",
    ],
    [
      "a condition that is not listed",
      withConditions({ type: "FrequentRestarts", status: "True" }),
      "True NodeReady",
      "True NodeHealthy",
    ],
    [
      "a kubelet that reports one thing only",
      { node: itsNode({ status: { conditions: [{ type: "Ready", status: "True" }] } }) },
      "True NodeReady",
      "Unknown NodeHealthyUnknown * Node.MemoryPressure: Condition not yet reported\n* Node.DiskPressure: Condition not yet reported\n* Node.PIDPressure: Condition not yet reported",
    ],
    [
      "no conditions at all",
      { node: itsNode({ status: {} }), machine: aMachine(withVm) },
      "Unknown NodeReadyUnknown * Node.Ready: Condition not yet reported",
      "Unknown NodeHealthyUnknown * Node.AllConditions: Condition not yet reported",
    ],
    [
      "an API server that does not answer",
      { isTargetReachable: false },
      "Unknown ConnectionDown The API server of the target cluster is unreachable",
      "Unknown ConnectionDown The API server of the target cluster is unreachable",
    ],
  ])("of %s", (_, change, nodeReady, nodeHealthy) => {
    expect([
      conditionText("NodeReady", facts(running, change)),
      conditionText("NodeHealthy", facts(running, change)),
    ]).toEqual([nodeReady, nodeHealthy]);
  });

  const missingText =
    "Node node of machine machine is missing. The machine is unhealthy - changing its phase to Unknown";
  it.each<[string, Machine, MachineFacts["node"], string]>([
    [
      "a VM that has not joined",
      aMachine(withVm),
      "missing",
      "Unknown InspectionFailed Waiting for a Node with spec.providerID vm-1 to exist",
    ],
    [
      "a VM whose driver returned no name of its node",
      aMachine({ spec: { providerID: "vm-1" } }),
      "missing",
      "Unknown InspectionFailed Waiting for a Node with spec.providerID vm-1 to exist. The driver returned no node name that can be the label node. The Node is found only by its provider id",
    ],
    ["no VM", aMachine(), "unread", "Unknown InspectionFailed Waiting for the VM to be created"],
    [
      "a node that is gone",
      running,
      "missing",
      "False NodeDeleted Node node has been deleted while the Machine still exists",
    ],
    [
      "a node that is missing according to the machine",
      aMachine(running, inPhase("Unknown"), lastly("HealthCheck", "Processing", missingText)),
      "unread",
      "False NodeDeleted Node node has been deleted while the Machine still exists",
    ],
    [
      "a node that went with its machine",
      going("Initiate machine object finalizer removal"),
      "missing",
      "False NodeDeleted Node node has been deleted",
    ],
    [
      "a node that never was",
      aMachine(withVm, beingDeleted(), inPhase("Terminating")),
      "missing",
      "Unknown NodeDoesNotExist Node does not exist",
    ],
  ])("of %s", (_, machine, node, expected) => {
    expect(conditionText("NodeHealthy", facts(machine, { node }))).toBe(expected);
    expect(conditionText("NodeReady", facts(machine, { node }))).toBe(expected);
  });

  it("goes by the list of the machine where it has one", () => {
    const machine = aMachine(running, { spec: { nodeConditions: "DiskPressure,Mine" } });
    expect(
      conditionText("NodeHealthy", facts(machine, withConditions({ type: "KernelDeadlock", status: "True" }))),
    ).toBe("True NodeHealthy");
    expect(conditionText("NodeHealthy", facts(machine, withConditions({ type: "Mine", status: "True" })))).toContain(
      "Node.Mine: Condition is True",
    );
  });
});
