import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { eventResource, type KubeObject, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";

const preserve = "node.machine.sapcloud.io/preserve";

interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string }[] };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

describe("preservation of machines with workloads", () => {
  let installation: Installation;
  let workloads: RunningWorkloads;

  const at = (name: string) => ({ namespace: "default", name });
  const machineAt = (name: string): Promise<Machine> => installation.api.get<Machine>(machineResource, at(name));
  const nodeAt = (name: string): Promise<NodeObject> => installation.api.get<NodeObject>(nodeResource, { name });
  const preservedOf = (node: NodeObject) => node.status?.conditions?.find(({ type }) => type === "Preserved");
  const tainted = (node: NodeObject): boolean =>
    node.spec?.taints?.some(({ key }) => key === "node.machine.sapcloud.io/preserved") === true;
  const annotateNode = (name: string, value: string | null): Promise<unknown> =>
    installation.api.patch(
      nodeResource,
      { name },
      { metadata: { annotations: { [preserve]: value } } },
      { kind: "merge" },
    );
  /** Sets a condition as the node problem detector does; the kubelet does not overwrite it. */
  const setHealthy = (name: string, isHealthy: boolean): Promise<unknown> => {
    const condition = { type: "KernelDeadlock", status: isHealthy ? "False" : "True", reason: "Test" };
    return installation.api.patch(
      nodeResource,
      { name },
      { status: { conditions: [{ ...condition, lastTransitionTime: new Date().toISOString() }] } },
      { kind: "strategic", subresource: "status" },
    );
  };
  const runs = (replicas: number): Promise<readonly Machine[]> =>
    eventually(async () => {
      const all = await installation.machines();
      expect(all.map(({ status }) => status?.currentStatus?.phase)).toEqual(
        Array.from({ length: replicas }, () => "Running"),
      );
      return all;
    }, 60_000);
  const nodeOf = (machine: Machine | undefined): string => machine?.metadata.labels?.["node"] ?? "";
  /** Breaks the node, and sets the machine to Failed as after the health timeout. */
  const breakMachine = async (name: string, nodeName: string): Promise<void> => {
    await setHealthy(nodeName, false);
    await eventually(async () => expect((await machineAt(name)).status?.currentStatus?.phase).toBe("Unknown"));
    const status = {
      currentStatus: { phase: "Failed", lastUpdateTime: new Date().toISOString().replace(/\.\d+/, "") },
    };
    await installation.api.patch(machineResource, at(name), { status }, { kind: "merge", subresource: "status" });
  };

  beforeEach(async () => {
    installation = await startInstallation();
    workloads = startWorkloads(installation.api);
    await installation.api.create(machineClassResource, machineClass("small"));
  });

  afterEach(async () => {
    await workloads.close();
    await installation.close();
  });

  it("keeps VM and node of a Failed machine, drains the node without a cordon, and ends the preservation on request, also after a kill", async () => {
    const first = installation.runAlone();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    const [broken, other] = await runs(2);
    const name = broken?.metadata.name ?? "";
    const nodeName = nodeOf(broken);
    await workloads.deploy("web", 4);
    await eventually(async () => {
      expect((await workloads.podsOn(nodeName)).length).toBeGreaterThan(0);
      expect((await workloads.podsOn(nodeOf(other))).length).toBeGreaterThan(0);
    });
    const allow = await workloads.forbidEvictions("web");
    await annotateNode(nodeName, "when-failed");
    await eventually(async () =>
      expect((await machineAt(name)).metadata.annotations).toMatchObject({
        "node.machine.sapcloud.io/last-applied-node-preserve-value": "when-failed",
      }),
    );
    await breakMachine(name, nodeName);

    // A budget blocks the drain, and the process is killed meanwhile.
    await eventually(async () => expect(tainted(await nodeAt(nodeName))).toBe(true));
    await first.stop("SIGKILL");
    const expiry = (await machineAt(name)).status?.currentStatus?.preserveExpiryTime;
    expect(expiry).toBeDefined();
    expect((await workloads.podsOn(nodeName)).length).toBeGreaterThan(0);
    installation.runAlone();
    await allow();
    await eventually(async () => {
      expect(await workloads.podsOn(nodeName)).toEqual([]);
      expect(preservedOf(await nodeAt(nodeName))).toMatchObject({
        status: "True",
        reason: "Preserved by user.",
        message: `Preserved node drained successfully. Machine preserved until ${expiry}.`,
      });
    }, 40_000);
    const node = await nodeAt(nodeName);
    expect(node.spec?.unschedulable ?? false).toBe(false);
    expect(node.metadata.annotations).toMatchObject({
      "cluster-autoscaler.kubernetes.io/scale-down-disabled": "true",
      "cluster-autoscaler.kubernetes.io/scale-down-disabled-by-mcm": "true",
    });
    const kept = await machineAt(name);
    expect(kept.status?.currentStatus).toMatchObject({ phase: "Failed", preserveExpiryTime: expiry });
    expect(installation.cloud.vms()).toHaveLength(2);
    expect((await workloads.podsOn(nodeOf(other))).length).toBe(4);

    // A user ends the preservation, and the set replaces the machine.
    await annotateNode(nodeName, "false");
    await eventually(
      async () => expect((await installation.machines()).map(({ metadata }) => metadata.name)).not.toContain(name),
      60_000,
    );
    await runs(2);
    await expect(nodeAt(nodeName)).rejects.toThrow(/not found/);
  });

  it("ends the preservation of a machine that recovers, and drains it again when it fails again", async () => {
    installation.runAlone();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    const [machine] = await runs(1);
    const name = machine?.metadata.name ?? "";
    const nodeName = nodeOf(machine);
    const metadata = { annotations: { [preserve]: "now" } };
    await installation.api.patch(machineResource, at(name), { metadata }, { kind: "merge" });
    await eventually(async () => expect(preservedOf(await nodeAt(nodeName))?.status).toBe("True"));
    await breakMachine(name, nodeName);
    await eventually(async () =>
      expect(preservedOf(await nodeAt(nodeName))?.message).toContain("drained successfully"),
    );

    await setHealthy(nodeName, true);
    await runs(1);
    await eventually(async () => {
      expect(tainted(await nodeAt(nodeName))).toBe(false);
      expect(preservedOf(await nodeAt(nodeName))?.message).not.toContain("drained");
    });
    await workloads.deploy("web", 2);
    await eventually(async () => expect(await workloads.podsOn(nodeName)).toHaveLength(2));
    await breakMachine(name, nodeName);
    await eventually(async () => expect(await workloads.podsOn(nodeName)).toEqual([]), 30_000);
    expect((await installation.machines()).map(({ metadata: { name: each } }) => each)).toEqual([name]);
  });

  it("ends a preservation to the second when its timeout expires, and removes the request", async () => {
    installation.runAlone("--machine-preserve-timeout=5s");
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    const [machine] = await runs(1);
    const name = machine?.metadata.name ?? "";
    const nodeName = nodeOf(machine);
    await annotateNode(nodeName, "now");
    const expiry = await eventually(async () => {
      const time = (await machineAt(name)).status?.currentStatus?.preserveExpiryTime;
      expect(time).toBeDefined();
      return Date.parse(time ?? "");
    });
    await eventually(async () =>
      expect((await machineAt(name)).status?.currentStatus?.preserveExpiryTime).toBeUndefined(),
    );
    expect(Date.now() - expiry).toBeGreaterThanOrEqual(0);
    // Long before any other reconcile of it; the rest is for a busy computer.
    expect(Date.now() - expiry).toBeLessThan(8_000);
    const node = await nodeAt(nodeName);
    expect(node.metadata.annotations ?? {}).not.toHaveProperty(preserve);
    expect(node.metadata.annotations ?? {}).not.toHaveProperty("cluster-autoscaler.kubernetes.io/scale-down-disabled");
    expect(preservedOf(node)).toMatchObject({ status: "False", reason: "Preservation stopped." });
    expect((await machineAt(name)).status?.currentStatus?.phase).toBe("Running");
  });

  it("reports an invalid value in one event, with the valid values", async () => {
    installation.runAlone();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    const [machine] = await runs(1);
    const nodeName = nodeOf(machine);
    await annotateNode(nodeName, "forever");
    const events = async (): Promise<readonly KubeObject[]> => {
      const { items } = await installation.api.list(eventResource, { namespace: "default" });
      return items.filter((event) => event["reason"] === "InvalidPreserveValue");
    };
    await eventually(async () => expect(await events()).toHaveLength(1));
    // Further reconciles record no further event.
    const labels = { "a-change": "yes" };
    await installation.api.patch(
      machineResource,
      at(machine?.metadata.name ?? ""),
      { metadata: { labels } },
      { kind: "merge" },
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const [event, ...more] = await events();
    expect(more).toEqual([]);
    expect(event).toMatchObject({ count: 1, type: "Warning" });
    expect(event?.["message"]).toContain("must be one of now, when-failed, auto-preserved, false");
  });
});
