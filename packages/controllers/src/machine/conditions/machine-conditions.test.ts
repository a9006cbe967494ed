import { annotationKeys, type Machine, type NodeCondition } from "@millwright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  beingDeleted,
  type Change,
  inPhase,
} from "../../testing/builders.ts";
import { itsNode, lastly, later, testNow, withVm } from "../../testing/snapshots.ts";
import { defaultMachineSettings } from "../snapshot.ts";
import { slowToGoText } from "./deleting.ts";
import type { MachineFacts } from "./facts.ts";
import { machineConditions, untilConditionsChange } from "./machine-conditions.ts";
import { templateDifferences } from "./updating.ts";

const MINUTE = 60_000;
const kubelet: readonly NodeCondition[] = [
  { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:05:00Z" },
  { type: "MemoryPressure", status: "False" },
  { type: "DiskPressure", status: "False" },
  { type: "PIDPressure", status: "False" },
];
/** The kubelet's conditions, some of them replaced. */
const reporting = (...changed: readonly NodeCondition[]): readonly NodeCondition[] => [
  ...kubelet.filter(({ type }) => changed.every((other) => other.type !== type)),
  ...changed,
];
const running = aMachine(withVm, inPhase("Running"), { status: { conditions: kubelet } });

const facts = (machine: Machine = running, change: Partial<MachineFacts> = {}): MachineFacts => ({
  machine,
  hasTarget: true,
  isTargetReachable: true,
  node: itsNode({ status: { conditions: kubelet } }),
  hasClass: true,
  settings: defaultMachineSettings,
  ...change,
});
/** `True Reason message` of one condition. */
const tell = (type: string, given: MachineFacts, now = testNow): string | undefined => {
  const condition = machineConditions(given, now).find((each) => each.type === type);
  return condition === undefined ? undefined : `${condition.status} ${condition.reason} ${condition.message}`.trim();
};
const withConditions = (...changed: readonly NodeCondition[]): Partial<MachineFacts> => ({
  node: itsNode({ status: { conditions: reporting(...changed) } }),
});
const going = (description: string, phase: "Terminating" | "Failed" = "Terminating"): Machine =>
  aMachine(running, beingDeleted(), inPhase(phase), lastly("Delete", "Processing", description));

describe("the conditions of a machine", () => {
  it("of a sound one are all there, in their order", () => {
    const owners = { set: aMachineSet(), deployment: aMachineDeployment() };
    expect(machineConditions(facts(running, owners), testNow).map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Available=True",
      "Ready=True",
      "UpToDate=True",
      "InfrastructureReady=True",
      "NodeHealthy=True",
      "NodeReady=True",
      "HealthCheckSucceeded=True",
      "Updating=False",
      "Drained=False",
      "VolumesDetached=False",
      "Paused=False",
      "Deleting=False",
    ]);
  });

  it("of one without a cluster to join do not speak of nodes", () => {
    const given = facts(aMachine(withVm, inPhase("Available")), { hasTarget: false, node: "missing" });
    expect(tell("Ready", given)).toBe("True Ready");
    expect(tell("Available", given)).toBe("True Available");
    expect([tell("NodeReady", given), tell("NodeHealthy", given)]).toEqual([undefined, undefined]);
  });

  it("are the same from a node and from the copy of its conditions", () => {
    for (const changed of [kubelet, reporting({ type: "DiskPressure", status: "True", message: "full" })]) {
      const machine = aMachine(running, { status: { conditions: changed } });
      const read = facts(machine, { node: itsNode({ status: { conditions: changed } }) });
      expect(machineConditions(facts(machine, { node: "unread" }), testNow)).toEqual(machineConditions(read, testNow));
    }
  });
});

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
    expect(tell("InfrastructureReady", facts(aMachine(change), more))).toBe(expected);
  });

  it("does not repeat all of a text without end", () => {
    const machine = aMachine(inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "x".repeat(5_000)));
    expect(tell("InfrastructureReady", facts(machine))?.length).toBeLessThan(600);
  });
});

// cluster-api-conditions.md, sections 4, 10 and 14.
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
      "a kubelet that says no more than that",
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
      "a condition that nobody lists",
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
      "Unknown ConnectionDown The API server of the nodes does not answer",
      "Unknown ConnectionDown The API server of the nodes does not answer",
    ],
  ])("of %s", (_, change, nodeReady, nodeHealthy) => {
    expect([tell("NodeReady", facts(running, change)), tell("NodeHealthy", facts(running, change))]).toEqual([
      nodeReady,
      nodeHealthy,
    ]);
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
    ["no VM", aMachine(), "unread", "Unknown InspectionFailed Waiting for MachineClass to report spec.providerID"],
    [
      "a node that is gone",
      running,
      "missing",
      "False NodeDeleted Node node has been deleted while the Machine still exists",
    ],
    [
      "a node that the machine says is gone",
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
    expect(tell("NodeHealthy", facts(machine, { node }))).toBe(expected);
    expect(tell("NodeReady", facts(machine, { node }))).toBe(expected);
  });

  it("goes by the list of the machine where it has one", () => {
    const machine = aMachine(running, { spec: { nodeConditions: "DiskPressure,Mine" } });
    expect(tell("NodeHealthy", facts(machine, withConditions({ type: "KernelDeadlock", status: "True" })))).toBe(
      "True NodeHealthy",
    );
    expect(tell("NodeHealthy", facts(machine, withConditions({ type: "Mine", status: "True" })))).toContain(
      "Node.Mine: Condition is True",
    );
  });
});

describe("HealthCheckSucceeded and OwnerRemediated", () => {
  const failedBy = (type: string, text: string): Machine =>
    aMachine(running, inPhase("Failed"), lastly(type, "Failed", text));
  it.each<[string, Machine, Date, string | undefined, string | undefined]>([
    ["a machine that runs", running, testNow, "True HealthCheckSucceeded", undefined],
    ["one that comes up", aMachine(inPhase("Pending")), testNow, undefined, undefined],
    [
      "one whose node failed",
      failedBy("HealthCheck", "bad"),
      testNow,
      "False UnhealthyNode Health check failed:\n  * bad",
      "False WaitingForRemediation Waiting for remediation",
    ],
    [
      "one that did not join",
      failedBy("Create", "late"),
      testNow,
      "False NodeStartupTimeout Health check failed:\n  * late",
      "False WaitingForRemediation Waiting for remediation",
    ],
    [
      "one that failed otherwise",
      failedBy("InPlaceUpdate", "x"),
      testNow,
      "False UnhealthyMachine Health check failed:\n  * x",
      "False WaitingForRemediation Waiting for remediation",
    ],
    [
      "one that is kept on purpose",
      aMachine(failedBy("HealthCheck", "bad"), {
        status: { currentStatus: { preserveExpiryTime: "2026-02-01T00:00:00Z" } },
      }),
      testNow,
      "False UnhealthyNode Health check failed:\n  * bad",
      undefined,
    ],
    [
      "one that failed and goes",
      going("x", "Failed"),
      testNow,
      "False UnhealthyMachine Health check failed:\n  * x",
      "False MachineDeleting Machine is deleting",
    ],
    ["one that goes", going("x"), testNow, undefined, undefined],
    ["one that may recover", aMachine(running, inPhase("Unknown")), testNow, undefined, undefined],
    [
      "one that has not recovered in time, and waits for others",
      aMachine(running, inPhase("Unknown")),
      later(MINUTE),
      "False UnhealthyNode Health check failed:\n  * Node conditions unhealthy for more than 10m0s",
      "False RemediationDeferred Waiting because there are already too many remediations in progress (1 per MachineDeployment)",
    ],
    [
      "one that may be ill for ever",
      aMachine(running, inPhase("Unknown"), { spec: { disableHealthTimeout: true } }),
      later(MINUTE),
      undefined,
      undefined,
    ],
    [
      "one of which it is not known since when it is ill",
      aMachine(running, { status: { currentStatus: { phase: "Unknown", lastUpdateTime: null } } }),
      later(MINUTE),
      undefined,
      undefined,
    ],
  ])("of %s", (_, machine, now, health, owner) => {
    expect(tell("HealthCheckSucceeded", facts(machine), now)).toBe(health);
    expect(tell("OwnerRemediated", facts(machine), now)).toBe(owner);
  });

  it.each<[string, Partial<MachineFacts>, string]>([
    ["the setting", { settings: { ...defaultMachineSettings, maxReplacements: 2 } }, "2 per MachineDeployment"],
    [
      "the annotation of the deployment",
      { deployment: aMachineDeployment({ metadata: { annotations: { [annotationKeys.maxReplacements]: "20%" } } }) },
      "20% per MachineDeployment",
    ],
  ])("tell how many may be replaced at once, by %s", (_, change, expected) => {
    const waiting = aMachine(running, inPhase("Unknown"));
    expect(tell("OwnerRemediated", facts(waiting, change), later(MINUTE))).toContain(expected);
  });

  it("remembers of a machine that goes that it had failed", () => {
    const conditions = withConditions({ type: "Terminating", status: "True", reason: "Unhealthy" });
    expect(tell("OwnerRemediated", facts(going("x"), conditions))).toBe("False MachineDeleting Machine is deleting");
  });

  it("knows of a wish of the node to be preserved", () => {
    const node = itsNode({ metadata: { annotations: { "node.machine.sapcloud.io/preserve": "when-failed" } } });
    expect(tell("OwnerRemediated", facts(failedBy("HealthCheck", "bad"), { node }))).toBeUndefined();
  });
});

describe("Updating", () => {
  const inPlace = (reason: string, message = ""): Partial<MachineFacts> =>
    withConditions({ type: "InPlaceUpdate", status: "True", reason, message });
  it.each<[Partial<MachineFacts>, Change<Machine>, string]>([
    [inPlace("CandidateForUpdate"), {}, "False NotUpdating"],
    [inPlace("SelectedForUpdate"), {}, "True InPlaceUpdating In-place update in progress, stage: SelectedForUpdate"],
    [inPlace("ReadyForUpdate"), {}, "True InPlaceUpdating In-place update in progress, stage: ReadyForUpdate"],
    [inPlace("UpdateSuccessful"), {}, "False NotUpdating"],
    [
      inPlace("UpdateFailed", "Node in-place update failed: no disk"),
      {},
      "True InPlaceUpdateFailed In-place update failed: no disk",
    ],
    [inPlace("UpdateFailed"), {}, "True InPlaceUpdateFailed In-place update failed"],
    [{}, inPhase("InPlaceUpdateFailed"), "True InPlaceUpdateFailed In-place update failed"],
    [{}, inPhase("InPlaceUpdating"), "True InPlaceUpdating In-place update in progress"],
    [
      { node: itsNode({ metadata: { annotations: { "node.machine.sapcloud.io/update-failed-reason": "no power" } } }) },
      inPhase("InPlaceUpdateFailed"),
      "True InPlaceUpdateFailed In-place update failed: no power",
    ],
  ])("%#", (change, phase, expected) => {
    expect(tell("Updating", facts(aMachine(running, phase), change))).toBe(expected);
  });
});

describe("UpToDate", () => {
  const template = aMachineSet().spec.template;
  it.each<[string, object, readonly string[]]>([
    ["nothing", {}, []],
    [
      "what is handed down in place",
      { spec: { ...template.spec, drainTimeout: "1h", nodeTemplate: { metadata: { labels: { a: "b" } } } } },
      [],
    ],
    ["the hash of the set", { metadata: { labels: { name: "pool", "machine-template-hash": "1" } } }, []],
    [
      "the class",
      { spec: { class: { kind: "MachineClass", name: "large" } } },
      ["* MachineClass small, large required"],
    ],
    ["a class that is taken away", { spec: {} }, ["* MachineClass small, none required"]],
    [
      "the group of the class",
      { spec: { class: { kind: "MachineClass", name: "small", apiGroup: "x" } } },
      ["* class.apiGroup none, x required"],
    ],
    // machineset-machinedeployment.md, F9: as many labels as before, another one.
    ["a label for another", { metadata: { labels: { other: "pool" } } }, ["* Template labels are not up-to-date"]],
    [
      "an annotation",
      { metadata: { ...template.metadata, annotations: { a: "b" } } },
      ["* Template annotations are not up-to-date"],
    ],
    [
      "a finalizer",
      { metadata: { ...template.metadata, finalizers: ["x"] } },
      ["* Template metadata is not up-to-date"],
    ],
    ["the VM", { spec: { ...template.spec, providerID: "vm-9" } }, ["* spec.providerID none, vm-9 required"]],
    [
      "something that no rule knows",
      { spec: { class: { ...template.spec.class, more: "x" } } },
      ["* Template metadata is not up-to-date"],
    ],
  ])("names %s", (_, change, expected) => {
    const current = { ...template, ...change };
    expect(templateDifferences(template, current)).toEqual(expected);
    const deployment = { ...aMachineDeployment(), spec: { ...aMachineDeployment().spec, template: current } };
    const told = tell("UpToDate", facts(running, { set: aMachineSet(), deployment }));
    expect(told).toBe(expected.length === 0 ? "True UpToDate" : `False NotUpToDate ${expected.join("\n")}`);
  });

  it("is for a machine of a deployment only", () => {
    expect(tell("UpToDate", facts(running, { set: aMachineSet() }))).toBeUndefined();
  });

  it("waits for an update in place that is under way", () => {
    const owners = { set: aMachineSet(), deployment: aMachineDeployment() };
    expect(tell("UpToDate", facts(aMachine(running, inPhase("InPlaceUpdating")), owners))).toBe(
      "False Updating * In-place update in progress",
    );
  });

  it("finds no difference between a template and itself, and always one where the rollout does", () => {
    fc.assert(
      fc.property(
        fc.record({
          labels: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("", "1")),
          name: fc.constantFrom("small", "large"),
        }),
        ({ labels, name }) => {
          const other = { metadata: { labels }, spec: { class: { kind: "MachineClass", name } } };
          expect(templateDifferences(other, other)).toEqual([]);
          expect(templateDifferences(template, other).length).toBe(templateDifferences(other, template).length);
        },
      ),
    );
  });
});

describe("Deleting, Drained and VolumesDetached", () => {
  it.each<[string, string, string, string]>([
    ["", "Deleting", "False DrainingNode", "False DrainingNode"],
    [
      "Set machine status to termination. Now, getting VM Status",
      "Deleting",
      "False DrainingNode",
      "False DrainingNode",
    ],
    ["Waiting for 2 pods. Initiate node drain", "DrainingNode", "False DrainingNode", "False DrainingNode"],
    [
      "Force Drain successful. Delete Volume Attachments",
      "WaitingForVolumeDetach",
      "True Drained",
      "False WaitingForVolumeDetach",
    ],
    [
      "Drain successful. Initiate VM deletion",
      "WaitingForInfrastructureDeletion",
      "True Drained",
      "True VolumesDetached",
    ],
    [
      "VM deletion was successful. Initiate node object deletion",
      "DeletingNode",
      "True Drained",
      "True VolumesDetached",
    ],
    ["Initiate machine object finalizer removal", "DeletionCompleted", "True Drained", "True VolumesDetached"],
  ])("at %j", (description, reason, isDrained, isDetached) => {
    const given = facts(going(description));
    expect(tell("Deleting", given)).toBe(`True ${reason} ${description}`.trim());
    expect(tell("Drained", given)).toBe(
      isDrained === "True Drained" ? isDrained : `${isDrained} ${description}`.trim(),
    );
    expect(tell("VolumesDetached", given)).toBe(isDetached);
  });

  it("starts where nothing was written yet", () => {
    const given = facts(aMachine(beingDeleted()));
    expect(tell("Deleting", given)).toBe("True Deleting Deletion started");
    expect(tell("Drained", given)).toBe("False DrainingNode");
  });

  it("takes a phase for a deletion whose time is not known", () => {
    expect(tell("Deleting", facts(aMachine(inPhase("Terminating"))))).toBe("True Deleting Deletion started");
    expect(tell("Deleting", facts(aMachine({ status: { currentStatus: { phase: "Terminating" } } })))).toBe(
      "True Deleting Deletion started",
    );
  });
});

describe("Ready", () => {
  const draining = going("cannot evict pod as it would violate the pod's disruption budget. Initiate node drain");
  it.each<[string, MachineFacts, Date, string]>([
    ["adds up to True", facts(), testNow, "True Ready"],
    [
      "of a machine without VM",
      facts(aMachine(), { node: "missing" }),
      testNow,
      "False NotReady * InfrastructureReady: Waiting for the VM to be created\n* NodeHealthy: Waiting for MachineClass to report spec.providerID",
    ],
    [
      "of a node that waits for its critical components",
      facts(aMachine(running, inPhase("Pending")), {
        node: itsNode({
          spec: { taints: [{ key: "node.gardener.cloud/critical-components-not-ready", effect: "NoSchedule" }] },
          status: { conditions: kubelet },
        }),
      }),
      testNow,
      "False NotReady * CriticalComponentsReady: Waiting for taint node.gardener.cloud/critical-components-not-ready to be removed from the Node",
    ],
    [
      "of a running machine that has the taint of critical components",
      facts(running, {
        node: itsNode({
          spec: { taints: [{ key: "node.gardener.cloud/critical-components-not-ready", effect: "NoSchedule" }] },
          status: { conditions: kubelet },
        }),
      }),
      testNow,
      "True Ready",
    ],
    [
      "of a machine that failed",
      facts(aMachine(running, inPhase("Failed"), lastly("HealthCheck", "Failed", "bad"))),
      testNow,
      "False NotReady * HealthCheckSucceeded:\n  * Health check failed:\n      * bad",
    ],
    [
      "of one that goes",
      facts(draining),
      later(-6 * MINUTE),
      "False NotReady * Deleting: Machine deletion in progress, stage: DrainingNode",
    ],
    [
      "of one whose drain takes long",
      facts(draining),
      later(-4 * MINUTE),
      "False NotReady * Deleting: Machine deletion in progress, stage: DrainingNode, delay likely due to PodDisruptionBudgets",
    ],
    [
      "of one that goes for long",
      facts(draining),
      later(6 * MINUTE),
      "False NotReady * Deleting: Machine deletion in progress since more than 15m, stage: DrainingNode, delay likely due to PodDisruptionBudgets",
    ],
    [
      "of one whose VM and node are gone, as they should be",
      facts(going("Initiate machine object finalizer removal"), { node: "missing" }),
      testNow,
      "False NotReady * Deleting: Machine deletion in progress, stage: DeletionCompleted",
    ],
    [
      "of one that is updated in place",
      facts(aMachine(running, inPhase("InPlaceUpdating"))),
      testNow,
      "False NotReady * Updating: In-place update in progress",
    ],
  ])("%s", (_, given, now, expected) => {
    expect(tell("Ready", given, now)).toBe(expected);
  });

  it("names machines that are slow to go, and why", () => {
    const named = (name: string): MachineFacts => facts(aMachine(draining, { metadata: { name } }));
    expect(slowToGoText([named("m")], testNow)).toBeUndefined();
    expect(slowToGoText([named("m"), facts()], later(6 * MINUTE))).toBe(
      "Machine m is in deletion since more than 15m, delay likely due to PodDisruptionBudgets",
    );
    const idle = ["e", "d", "c", "b", "a"].map((name) =>
      facts(aMachine(going("Initiate VM deletion"), { metadata: { name } })),
    );
    expect(slowToGoText(idle, later(6 * MINUTE))).toBe(
      "Machines a, b, c, ... (2 more) are in deletion since more than 15m",
    );
  });
});

describe("Available", () => {
  const set = { ...aMachineSet(), spec: { ...aMachineSet().spec, minReadySeconds: 600 } };
  it.each<[string, MachineFacts, Date, string, number | undefined]>([
    ["is True without a time to wait", facts(), testNow, "True Available", undefined],
    ["waits for the time of the set", facts(running, { set }), testNow, "False WaitingForMinReadySeconds", 5 * MINUTE],
    ["waits no longer", facts(running, { set }), later(5 * MINUTE), "True Available", undefined],
    [
      "waits for the time of the deployment",
      facts(running, {
        deployment: { ...aMachineDeployment(), spec: { ...aMachineDeployment().spec, minReadySeconds: 301 } },
      }),
      testNow,
      "False WaitingForMinReadySeconds",
      1_000,
    ],
    [
      "is False while the machine is not ready",
      facts(aMachine(withVm, inPhase("Pending")), { node: "missing", set }),
      testNow,
      "False NotReady",
      undefined,
    ],
    [
      "is True where it is not known since when",
      facts(aMachine(withVm, { status: { currentStatus: { phase: "Available" } } }), { hasTarget: false, set }),
      testNow,
      "True Available",
      undefined,
    ],
  ])("%s", (_, given, now, expected, next) => {
    expect(tell("Available", given, now)).toBe(expected);
    expect(untilConditionsChange(given, now)).toBe(next);
  });
});

describe("untilConditionsChange", () => {
  it.each<[string, Machine, Date, number | undefined]>([
    ["when a drain becomes slow", going("Initiate node drain"), later(-7 * MINUTE), 2 * MINUTE + 1],
    ["when a deletion becomes slow", going("Initiate node drain"), testNow, 5 * MINUTE + 1],
    ["never again when both are", going("Initiate node drain"), later(6 * MINUTE), undefined],
    [
      "when an unhealthy machine is overdue",
      aMachine(running, inPhase("Unknown", "2026-01-01T00:05:00Z")),
      testNow,
      5 * MINUTE + 1,
    ],
  ])("names the time %s", (_, machine, now, expected) => {
    expect(untilConditionsChange(facts(machine), now)).toBe(expected);
  });

  it("names a time before which nothing changes, and at which something does", () => {
    const machines = fc.constantFrom(
      going("cannot evict pod as it would violate the pod's disruption budget. Initiate node drain"),
      aMachine(running, inPhase("Unknown")),
      running,
    );
    fc.assert(
      fc.property(machines, fc.integer({ min: -10 * MINUTE, max: 20 * MINUTE }), (machine, at) => {
        const given = facts(machine, {
          set: { ...aMachineSet(), spec: { ...aMachineSet().spec, minReadySeconds: 600 } },
        });
        const now = later(at);
        const next = untilConditionsChange(given, now);
        const told = machineConditions(given, now);
        expect(machineConditions(given, new Date(now.getTime() + (next ?? 3_600_000) - 1))).toEqual(told);
        const after = next === undefined ? told : machineConditions(given, new Date(now.getTime() + next));
        expect(JSON.stringify(after) === JSON.stringify(told)).toBe(next === undefined);
      }),
    );
  });
});
