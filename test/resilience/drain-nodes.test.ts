import { nodeResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aBudget, aDaemonSet, aDeployment, aStatefulSet, listOf, storageClass } from "../harness/manifests.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Nodes that die, vanish and come back while they are drained, and deletions of whole fleets. */
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
  /** The kubelet is silent, and has been for six minutes. */
  const goDark = async (): Promise<{ readonly remove: () => void }> => {
    const fault = fleet.server.clusterFaults.add({ kind: "kubelet-stops", nodes: [node] });
    await eventually(async () => expect(await readiness()).toBe("Unknown"), 30_000);
    const lastTransitionTime = new Date(Date.now() - 6 * 60_000).toISOString().replace(/\.\d+/, "");
    const condition = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", lastTransitionTime };
    const options = { kind: "strategic", subresource: "status" } as const;
    await fleet.api.patch(nodeResource, { name: node }, { status: { conditions: [condition] } }, options);
    return fault;
  };

  it("asks nobody on a node that has been silent for five minutes, and frees its volumes", async () => {
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
    await goDark();
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine, 30_000);
    expect(fleet.evicted()).toEqual([]);
    await fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("attaches no volume twice when the node comes back while it is given up, and does not uncordon it (87)", async () => {
    await begin(2);
    await fleet.fillNode(node, 2, storageClass, aStatefulSet("db", 2));
    fleet.invariants.allowForce();
    // The cloud keeps the VM, so that the node is back while its pods are already replaced.
    await fleet.cloud.addFault({ operation: "delete", code: "Unavailable", times: 1_000 });
    const fault = await goDark();
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "VM deletion failed");
    fault.remove();
    await eventually(async () => expect(await readiness()).toBe("True"));
    await pause(1_500);
    expect(await fleet.kubectl(["get", "node", node, "-o", "jsonpath={.spec.unschedulable}"])).toBe("true");
    await fleet.cloud.clearFaults();
    await fleet.untilMachineDeleted(machine, 60_000);
    await fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("empties and replaces a machine whose Node somebody deletes (86)", async () => {
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

  /** A service under a budget, a database and an agent, running. */
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

  it("empties and replaces all machines of a MachineSet that is deleted, under the budget", async () => {
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

  it("leaves no machine, no VM and no node behind when a deployment is deleted with everything that runs on it", async () => {
    // Successors have nowhere to go, so that their volumes are attached nowhere.
    await begin(3, "--machine-pv-reattach-timeout=2s");
    await runWorkloads();
    await fleet.kubectl(["delete", "machinedeployment", "fleet", "--wait=false"]);
    // The last two pods of the service have nowhere to go, so that their budget holds them until they are given up as well.
    await eventually(async () => {
      const said = await Promise.all(
        (await fleet.machines()).map(({ metadata }) => fleet.lastOperation(metadata.name)),
      );
      expect(said.join()).toContain("budget default/web waits for");
    }, 30_000);
    await fleet.kubectl(["delete", "deployment", "web", "--wait=false"]);
    await fleet.untilGone();
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
    await fleet.invariants.check();
  });
});
