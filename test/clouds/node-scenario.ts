import { uninitializedTaint } from "@millwright/devcluster";
import { type KubeObject, nodeResource } from "@millwright/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, type CloudNode, patienceMs } from "./cloud-installation.ts";
import type { LoopCloud, StartLoopCloud } from "./machine-loop-scenario.ts";
import { type CloudOptions, expectOneVmEach, removeAll } from "./vm-cloud.ts";

const isUninitialized = ({ spec }: CloudNode): boolean =>
  spec?.taints?.some(({ key }) => key === uninitializedTaint.key) === true;

const phasesOf = async ({ machines }: CloudInstallation) =>
  (await machines()).map(({ status }) => status?.currentStatus?.phase);

/** When nodes join and are initialized, end to end with `millwright run` and the driver of a cloud: shared by all clouds. */
export function describeNodes(name: string, startCloud: StartLoopCloud): void {
  describe(`nodes of machines on ${name}`, { timeout: 900_000 }, () => {
    const start = async (options?: CloudOptions): Promise<LoopCloud> => {
      const cloud = await startCloud(options);
      onTestFinished(() => cloud.close());
      return cloud;
    };

    it("keeps machines Pending until a slow cloud controller manager has initialized their nodes", async () => {
      const cloud = await start({ nodes: { initializeMs: 10_000 } });
      const { installation } = cloud;
      installation.run();
      await installation.deploy(3);
      await eventually(
        async () => expect((await installation.nodes()).filter(isUninitialized)).toHaveLength(3),
        patienceMs,
      );
      expect(await phasesOf(installation)).not.toContain("Running");
      await installation.untilRunning(3);
      expect((await installation.nodes()).filter(isUninitialized)).toEqual([]);
      await expectOneVmEach(cloud);
      expect(await cloud.launches()).toBe(3);
    });

    it("deletes machines with nodes that were never initialized, including the nodes", async () => {
      const cloud = await start({ nodes: { initializeMs: Number.POSITIVE_INFINITY } });
      const { installation } = cloud;
      installation.run();
      await installation.deploy(2);
      await eventually(async () => {
        expect((await installation.nodes()).filter(isUninitialized)).toHaveLength(2);
        expect(await phasesOf(installation)).toEqual(["Pending", "Pending"]);
      }, patienceMs);
      await removeAll(cloud);
    });

    it("finds the nodes of VMs that joined before the provider IDs were stored", async () => {
      const cloud = await start({ nodes: { joinMs: 0, initializeMs: 0 } });
      const { installation, faults, words } = cloud;
      // The cloud creates the VMs, and does not complete its responses.
      faults.add({ operation: words.create, times: 3, end: { kind: "stall" } });
      const first = installation.run();
      await installation.deploy(3);
      await eventually(async () => {
        const ids = (await installation.nodes()).map(({ spec }) => spec?.providerID ?? "");
        expect(ids.filter((id) => id !== "")).toHaveLength(3);
      }, patienceMs);
      await first.stop("SIGKILL");
      expect((await installation.machines()).map(({ spec }) => spec.providerID)).toContain(undefined);
      faults.clear();
      installation.run();
      await installation.untilRunning(3);
      await expectOneVmEach(cloud);
      expect(await cloud.launches()).toBe(3);
    });

    it("ignores nodes without a machine", async () => {
      const cloud = await start();
      const { installation, foreignNode } = cloud;
      const { api } = installation;
      const spec = { providerID: foreignNode.providerId };
      const foreign: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name: foreignNode.name }, spec };
      const { metadata } = await api.create(nodeResource, foreign);
      installation.run();
      await installation.deploy(2);
      await installation.untilRunning(2);
      await installation.remove();
      await installation.untilGone();
      const left = await eventually(async () => {
        const nodes = await installation.nodes();
        expect(nodes).toHaveLength(1);
        return nodes[0];
      }, patienceMs);
      expect(left).toMatchObject({ metadata: { uid: metadata.uid }, spec });
      expect(left?.metadata.labels ?? {}).not.toHaveProperty("node.gardener.cloud/machine-name");
    });
  });
}
