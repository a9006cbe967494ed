import { type KubeObject, nodeResource, podDisruptionBudgetResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aBudget, aDaemonSet, aDeployment, aStatefulSet, listOf, storageClass } from "../harness/manifests.ts";
import { startWorkloads } from "../harness/workloads.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Nodes that fail, vanish and recover while they are drained, and deletions of whole fleets. */
describe("a drain and the state of its node", () => {
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;

  const begin = async (replicas: number, ...flags: readonly string[]): Promise<void> => {
    fleet = await startDrainingFleet(replicas, ...flags);
    ({ machine, node } = await fleet.victim());
  };
  afterEach(() => fleet.close());

  const readiness = (): Promise<string> =>
    fleet.kubectl(["get", "node", node, "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']);
  /** Stops the kubelet, and backdates its silence by six minutes. */
  const silenceKubelet = async (): Promise<{ readonly remove: () => void }> => {
    const fault = fleet.server.clusterFaults.add({ kind: "kubelet-stops", nodes: [node] });
    await eventually(async () => expect(await readiness()).toBe("Unknown"), 30_000);
    const lastTransitionTime = new Date(Date.now() - 6 * 60_000).toISOString().replace(/\.\d+/, "");
    const condition = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", lastTransitionTime };
    const options = { kind: "strategic", subresource: "status" } as const;
    await fleet.api.patch(nodeResource, { name: node }, { status: { conditions: [condition] } }, options);
    return fault;
  };

  it("evicts no pod of a node that has been silent for five minutes, and detaches its volumes", async () => {
    await begin(2);
    await fleet.fillNode(
      node,
      4,
      storageClass,
      aStatefulSet("db", 2),
      aDeployment("web", 2),
      aBudget("web", { maxUnavailable: 0 }),
    );
    fleet.invariants.allowForce();
    await silenceKubelet();
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine, 30_000);
    expect(fleet.evicted()).toEqual([]);
    await fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("forces neither pods nor volumes of a silent node while its VM may be running, and does when the VM is deleted", async () => {
    await begin(2);
    await fleet.fillNode(node, 2, storageClass, aStatefulSet("db", 2));
    fleet.invariants.allowForce();
    // Behind a network partition the VM is alive, with its pods: the cloud does not delete it.
    await fleet.cloud.addFault({ operation: "delete", code: "Unavailable", times: 1_000 });
    const fault = await silenceKubelet();
    const namesOf = async (): Promise<readonly (string | undefined)[]> =>
      (await fleet.podsOn(node)).map(({ metadata }) => metadata.uid);
    const before = await namesOf();
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(
      machine,
      `Node ${node} is unreachable: its pods and volumes are not released until the driver confirms that the VM is deleted`,
    );
    await pause(3_000);
    expect(await namesOf()).toEqual(before);
    const attached = await fleet.kubectl(["get", "volumeattachments", "-o", "jsonpath={.items[*].spec.nodeName}"]);
    expect(attached.trim().split(" ")).toEqual([node, node]);
    expect(await fleet.kubectl(["get", "node", node, "-o", "jsonpath={.spec.taints[*].key}"])).not.toContain(
      "out-of-service",
    );
    // It stays cordoned when it recovers.
    fault.remove();
    await eventually(async () => expect(await readiness()).toBe("True"));
    expect(await fleet.kubectl(["get", "node", node, "-o", "jsonpath={.spec.unschedulable}"])).toBe("true");
    await silenceKubelet();
    await fleet.cloud.clearFaults();
    await fleet.untilMachineDeleted(machine, 60_000);
    await fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("drains and replaces a machine whose Node another client deletes", async () => {
    await begin(2);
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { minAvailable: 1 }));
    fleet.invariants.requireReadyPods("web", 1);
    await fleet.kubectl(["delete", "node", node, "--wait=false"]);
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted()).toHaveLength(2);
    await fleet.untilRunning(2);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  /** Deletes the machine, whose pods a budget keeps on their node. */
  const beginHeldDrain = async (): Promise<void> => {
    await begin(2);
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 }));
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/web");
  };

  it("ends the drain of a VM that was deleted in the cloud as soon as its node is not ready", async () => {
    await beginHeldDrain();
    fleet.invariants.allowForce();
    const vm = fleet.cloud.vms().find(({ nodeName }) => nodeName === node);
    await fleet.cloud.deleteVm(vm?.id ?? "");
    // A node that is not ready is waited for five minutes. A VM that is missing is looked for until two minutes after its creation.
    await fleet.untilMachineDeleted(machine, 180_000);
    expect(await fleet.eventsOf(machine)).toContainEqual(
      expect.stringContaining(`VM ${vm?.providerId ?? ""} was not found, and its Node ${node} is not ready`),
    );
    expect(fleet.evicted()).toEqual([]);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("goes on with a drain whose Node object was absent for a moment", async () => {
    await beginHeldDrain();
    const present = await fleet.api.get(nodeResource, { name: node });
    // Kubernetes deletes the pods of an absent Node after about a minute, and these workloads after a second.
    await fleet.workloads.close();
    await fleet.api.patch(nodeResource, { name: node }, { metadata: { finalizers: null } }, { kind: "merge" });
    await fleet.api.delete(nodeResource, { name: node });
    await fleet.untilLastOperation(
      machine,
      `Waiting for Node ${node}, which does not exist, or for its pods to be deleted`,
    );
    const { labels } = present.metadata;
    await fleet.api.create(nodeResource, { metadata: { name: node, labels }, spec: present["spec"] } as KubeObject);
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/web");
    expect(fleet.callsOf("delete")).toBe(0);
    expect(await fleet.podsOn(node)).toHaveLength(2);
    const workloads = startWorkloads(fleet.api, { clusterFaults: fleet.server.clusterFaults });
    await fleet.api.delete(podDisruptionBudgetResource, { namespace: "default", name: "web" });
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted()).toHaveLength(2);
    await fleet.invariants.check();
    await workloads.close();
  });

  it("replaces a machine whose VM the cloud will reclaim, and drains its node within the notice, whatever its budgets", async () => {
    await begin(2);
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 }));
    fleet.invariants.allowForce();
    const before = new Set((await fleet.machines()).map(({ metadata }) => metadata.uid));
    const noticedAt = performance.now();
    await fleet.kubectl(["taint", "node", node, "machine.millwright.dev/interruption=25s:NoSchedule"]);
    // The replacement is created while the budget still holds the drain up.
    await eventually(async () =>
      expect((await fleet.machines()).filter(({ metadata }) => !before.has(metadata.uid))).toHaveLength(1),
    );
    await eventually(async () =>
      expect(await fleet.lastOperation(machine)).toMatch(/PodDisruptionBudget|Initiate node drain/),
    );
    expect(await fleet.podsOn(node)).toHaveLength(2);
    await fleet.untilMachineDeleted(machine, 60_000);
    // The budget allows no eviction: 15 s before the VM is lost the pods are deleted, and end gracefully.
    expect(performance.now() - noticedAt).toBeGreaterThan(9_000);
    expect(fleet.evicted()).toEqual([]);
    expect(await fleet.eventsOf(machine)).toContainEqual(
      expect.stringMatching(/^The cloud reclaims the VM of machine .* \(taint machine.millwright.dev\/interruption of/),
    );
    await fleet.untilRunning(2);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  /** Runs a service with a budget, a database and an agent. */
  const runWorkloads = async (): Promise<void> => {
    const items = [
      storageClass,
      aDeployment("web", 4),
      aBudget("web", { minAvailable: 2 }),
      aStatefulSet("db", 2),
      aDaemonSet("agent"),
    ];
    await fleet.kubectl(["apply", "-f", "-"], listOf(...items));
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
  };

  it("drains and replaces all machines of a deleted MachineSet within the budget", async () => {
    await begin(3);
    await runWorkloads();
    fleet.invariants.requireReadyPods("web", 2);
    const before = new Set((await fleet.machines()).map(({ metadata }) => metadata.name));
    await fleet.kubectl(["delete", "machineset", "--all", "--wait=false"]);
    await eventually(async () => {
      const left = (await fleet.machines()).filter(({ metadata }) => before.has(metadata.name));
      expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
    }, 60_000);
    await fleet.untilRunning(3);
    await fleet.invariants.check();
  });

  it("deletes all machines, VMs and nodes of a deleted deployment with running workloads", async () => {
    // Replacement pods cannot be scheduled, so that their volumes are not attached again.
    await begin(3, "--machine-pv-reattach-timeout=2s");
    await runWorkloads();
    await fleet.kubectl(["delete", "machinedeployment", "fleet", "--wait=false"]);
    // The replacements of the last two pods cannot be scheduled, so that the budget blocks until the service is deleted.
    await eventually(async () => {
      const descriptions = await Promise.all(
        (await fleet.machines()).map(({ metadata }) => fleet.lastOperation(metadata.name)),
      );
      expect(descriptions.join()).toContain("PodDisruptionBudget default/web needs");
    }, 30_000);
    await fleet.kubectl(["delete", "deployment", "web", "--wait=false"]);
    await fleet.untilGone();
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
    await fleet.invariants.check();
  });
});
