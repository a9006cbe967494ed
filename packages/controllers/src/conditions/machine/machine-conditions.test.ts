import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, beingDeleted, inPhase } from "../../testing/builders.ts";
import { itsNode, lastly, later, testNow, withVm } from "../../testing/snapshots.ts";
import { slowDeletionText } from "./deleting.ts";
import type { MachineFacts } from "./facts.ts";
import { machineConditions, untilConditionsChange } from "./machine-conditions.ts";
import { facts, going, kubelet, MINUTE, reporting, running, conditionText } from "../../testing/written-conditions.ts";

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
    expect(conditionText("Ready", given)).toBe("True Ready");
    expect(conditionText("Available", given)).toBe("True Available");
    expect([conditionText("NodeReady", given), conditionText("NodeHealthy", given)]).toEqual([undefined, undefined]);
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
  it("has the words of a driver that takes its time, and only those of it", () => {
    const machine = aMachine(inPhase(""), lastly("Create", "Processing", "Provisioning VM: installing"));
    expect(conditionText("InfrastructureReady", facts(machine))).toBe(
      "False NotProvisioned Provisioning VM: installing",
    );
    const other = aMachine(
      inPhase(""),
      lastly("Create", "Processing", "Created VM on cloud provider; waiting for its Node to join the cluster"),
    );
    expect(conditionText("InfrastructureReady", facts(other))).toBe(
      "False NotProvisioned Waiting for the VM to be created",
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
      "Drain ended, but volumes are still attached to Node n: pv-a. Initiate VM deletion",
      "WaitingForInfrastructureDeletion",
      "True Drained",
      "False WaitingForVolumeDetach Drain ended, but volumes are still attached to Node n: pv-a",
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
    expect(conditionText("Deleting", given)).toBe(`True ${reason} ${description}`.trim());
    expect(conditionText("Drained", given)).toBe(
      isDrained === "True Drained" ? isDrained : `${isDrained} ${description}`.trim(),
    );
    expect(conditionText("VolumesDetached", given)).toBe(isDetached);
  });

  it("starts where nothing was written yet", () => {
    const given = facts(aMachine(beingDeleted()));
    expect(conditionText("Deleting", given)).toBe("True Deleting Deletion started");
    expect(conditionText("Drained", given)).toBe("False DrainingNode");
  });

  it("takes a phase for a deletion whose time is not known", () => {
    expect(conditionText("Deleting", facts(aMachine(inPhase("Terminating"))))).toBe("True Deleting Deletion started");
    expect(conditionText("Deleting", facts(aMachine({ status: { currentStatus: { phase: "Terminating" } } })))).toBe(
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
      "False NotReady * InfrastructureReady: Waiting for the VM to be created",
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
      "False NotReady * CriticalComponentsReady: Waiting for startup taint node.gardener.cloud/critical-components-not-ready:NoSchedule to be removed from Node node",
    ],
    [
      "of a node that is to get a startup taint",
      facts(
        aMachine(running, inPhase("Pending"), lastly("Create", "Processing", "x"), {
          spec: { nodeTemplate: { spec: { taints: [{ key: "readiness.k8s.io/cni", effect: "NoSchedule" }] } } },
        }),
        { node: itsNode({ status: { conditions: kubelet } }) },
      ),
      testNow,
      "False NotReady * CriticalComponentsReady: Waiting for startup taint readiness.k8s.io/cni:NoSchedule to be set on Node node",
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
    expect(conditionText("Ready", given, now)).toBe(expected);
  });

  it("names machines that are slow to go, and why", () => {
    const named = (name: string): MachineFacts => facts(aMachine(draining, { metadata: { name } }));
    expect(slowDeletionText([named("m")], testNow)).toBeUndefined();
    expect(slowDeletionText([named("m"), facts()], later(6 * MINUTE))).toBe(
      "Machine m is in deletion since more than 15m, delay likely due to PodDisruptionBudgets",
    );
    const idle = ["e", "d", "c", "b", "a"].map((name) =>
      facts(aMachine(going("Initiate VM deletion"), { metadata: { name } })),
    );
    expect(slowDeletionText(idle, later(6 * MINUTE))).toBe(
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
    expect(conditionText("Available", given, now)).toBe(expected);
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
        const before = machineConditions(given, now);
        expect(machineConditions(given, new Date(now.getTime() + (next ?? 3_600_000) - 1))).toEqual(before);
        const after = next === undefined ? before : machineConditions(given, new Date(now.getTime() + next));
        expect(JSON.stringify(after) === JSON.stringify(before)).toBe(next === undefined);
      }),
    );
  });
});
