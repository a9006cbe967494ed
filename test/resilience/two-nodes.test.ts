import { systemClock } from "@millwright/base";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import { createSimulatedNodes } from "@millwright/devcluster";
import { nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aBudget, aDeployment } from "../harness/manifests.ts";

const HEALTH_TIMEOUT_MS = 5_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** After a change of host name, the kubelet of a VM registers a second Node with the same provider id, and the first one goes silent. */
describe("a VM whose kubelet registered two Nodes", () => {
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;
  let renamed: string;
  let kubelets: AbortController;
  let stopped: Promise<void> = Promise.resolve();

  beforeEach(async () => {
    fleet = await startDrainingFleet(2, `--machine-health-timeout=${HEALTH_TIMEOUT_MS}ms`);
    ({ machine, node } = await fleet.victim());
    renamed = `${node}-renamed`;
    kubelets = new AbortController();
  });
  afterEach(async () => {
    kubelets.abort();
    await stopped;
    await fleet.close();
  });

  /** The kubelet registers under the new name. `isOldSilent`: no one reports under the former one. */
  const rename = async ({ isOldSilent }: { readonly isOldSilent: boolean }): Promise<void> => {
    // Of two ready Nodes the younger one counts, and their times are in whole seconds.
    const { metadata } = await fleet.api.get(nodeResource, { name: node });
    const olderMs = Date.parse(metadata.creationTimestamp ?? "");
    await eventually(async () => expect(Date.now() - olderMs).toBeGreaterThan(2_000));
    if (isOldSilent) fleet.server.clusterFaults.add({ kind: "kubelet-stops", nodes: [node] });
    const { clusterFaults } = fleet.server;
    const nodes = createSimulatedNodes({
      api: fleet.api,
      clock: systemClock,
      joinDelayMs: 0,
      heartbeatMs: 1_000,
      silenceMs: 10_000,
      clusterFaults,
    });
    stopped = nodes.start(kubelets.signal);
    const follow = (): void =>
      nodes.sync(
        fleet.cloud
          .vms()
          .flatMap(({ nodeName, providerId, state }) =>
            nodeName === node && (state === "running" || state === "stopping")
              ? [{ nodeName: renamed, providerId }]
              : [],
          ),
      );
    follow();
    kubelets.signal.addEventListener("abort", fleet.cloud.subscribe(follow));
  };
  const machineNow = (): Promise<Machine> =>
    fleet.api.get<Machine>(machineResource, { namespace: "default", name: machine });
  const untilLabelIs = (name: string): Promise<void> =>
    eventually(async () => expect((await machineNow()).metadata.labels?.["node"]).toBe(name), 40_000);
  const readinessOf = (name: string): Promise<string> =>
    fleet.kubectl(["get", "node", name, "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']);
  const nodesLeft = async (): Promise<readonly string[]> =>
    (await fleet.api.list(nodeResource)).items
      .map(({ metadata }) => metadata.name ?? "")
      .filter((name) => name === node || name === renamed);
  const vms = (): readonly string[] => fleet.cloud.vms().map(({ providerId }) => providerId);

  it("stays: the ready Node counts, and an event and a condition name both", async () => {
    const before = vms();
    await rename({ isOldSilent: true });
    await untilLabelIs(renamed);
    await eventually(async () => expect(await readinessOf(node)).toBe("Unknown"), 40_000);
    await pause(2 * HEALTH_TIMEOUT_MS);
    expect(vms()).toEqual(before);
    const { metadata, status } = await machineNow();
    expect([metadata.labels?.["node"], status?.currentStatus?.phase]).toEqual([renamed, "Running"]);
    const text = `Node ${renamed} counts, Node ${node} does not`;
    expect(await fleet.eventsOf(machine)).toContainEqual(expect.stringContaining(text));
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "SeveralNodes", status: "True", message: expect.stringContaining(text) }),
    );
    // The new Node has what the template gives, such as the name of its machine.
    const { metadata: labeled } = await fleet.api.get(nodeResource, { name: renamed });
    expect(labeled.labels?.["node.gardener.cloud/machine-name"]).toBe(machine);

    // The natural thing to do: the Node that is out of use is deleted, and the machine stays.
    await fleet.kubectl(["delete", "node", node, "--timeout=60s"]);
    await eventually(async () => {
      const types = (await machineNow()).status?.conditions?.map(({ type }) => type);
      expect(types).not.toContain("SeveralNodes");
    });
    expect((await machineNow()).metadata.deletionTimestamp).toBeUndefined();
    expect(vms()).toEqual(before);
    await fleet.invariants.check();
  });

  it("is drained within the budgets of the pods on the Node that counts, and both Nodes are deleted", async () => {
    await rename({ isOldSilent: true });
    await untilLabelIs(renamed);
    await eventually(async () => expect(await readinessOf(node)).toBe("Unknown"), 40_000);
    await fleet.fillNode(renamed, 2, aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 }));
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/web");
    expect(fleet.callsOf("delete")).toBe(0);
    await fleet.kubectl(["delete", "poddisruptionbudget", "web"]);
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted()).toHaveLength(2);
    expect(await nodesLeft()).toEqual([]);
    await fleet.untilRunning(2);
    await fleet.invariants.check();
  });

  it("is drained of the pods on both Nodes while both are ready", async () => {
    await fleet.fillNode(node, 1, aDeployment("old", 1), aBudget("old", { maxUnavailable: 0 }));
    await rename({ isOldSilent: false });
    await untilLabelIs(renamed);
    await fleet.fillNode(renamed, 1, aDeployment("new", 1), aBudget("new", { maxUnavailable: 0 }));
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/old");
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/new");
    const cordons = await fleet.kubectl([
      "get",
      "node",
      node,
      renamed,
      "-o",
      "jsonpath={.items[*].spec.unschedulable}",
    ]);
    expect(cordons).toBe("true true");
    await fleet.kubectl(["delete", "poddisruptionbudget", "new"]);
    await eventually(async () => expect(fleet.evicted()).toEqual([expect.stringMatching(/^new-/)]));
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/old");
    expect(fleet.callsOf("delete")).toBe(0);
    await fleet.kubectl(["delete", "poddisruptionbudget", "old"]);
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted()).toHaveLength(2);
    expect(await nodesLeft()).toEqual([]);
    await fleet.untilRunning(2);
    await fleet.invariants.check();
  });
});
