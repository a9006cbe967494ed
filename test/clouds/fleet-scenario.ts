import { labelKeys, type Machine, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { podDisruptionBudgetResource } from "@millwright/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startWorkloads } from "../harness/workloads.ts";
import { type CloudInstallation, namespace, patienceMs } from "./cloud-installation.ts";
import { declareAsMcm } from "./mcm-fleet.ts";
import { type CloudOptions, expectOneVmEach, removeAll, type VmCloud } from "./vm-cloud.ts";

const nodeOf = ({ metadata }: Machine): string => metadata.labels?.[labelKeys.node] ?? "";

/** Every machine has a Node, whose provider ID from the cloud controller manager has another form than the machine's. */
async function expectInitializedNodes({ machines, nodes }: CloudInstallation): Promise<void> {
  const byName = new Map((await nodes()).map((node) => [node.metadata.name, node]));
  for (const machine of await machines()) {
    const { spec, metadata } = byName.get(nodeOf(machine)) ?? {};
    expect([machine.metadata.name, spec?.providerID]).not.toEqual([machine.metadata.name, undefined]);
    expect(spec?.providerID).not.toBe(machine.spec.providerID);
    expect(spec?.taints ?? []).toEqual([]);
    expect(metadata?.labels?.[labelKeys.machineName]).toBe(machine.metadata.name);
  }
}

/**
 * A fleet on a cloud, end to end with `millwright run` and the driver of the cloud: shared by all clouds.
 *
 * @param isInstalled whether the cloud can be started here
 */
export function describeFleet(
  name: string,
  startCloud: (options?: CloudOptions) => Promise<VmCloud>,
  isInstalled = true,
): void {
  // The timeout only catches hangs: twenty machines are slow on a busy computer.
  describe.skipIf(!isInstalled)(`a fleet on ${name}`, { timeout: 900_000 }, () => {
    const start = async (options?: CloudOptions): Promise<VmCloud> => {
      const cloud = await startCloud(options);
      onTestFinished(() => cloud.close());
      return cloud;
    };

    it("creates, rolls, scales down and deletes 20 machines, and leaves no resources", async () => {
      const cloud = await start();
      const { installation, newer, vms } = cloud;
      // Three quarters of the machines are deleted at once.
      installation.run("--machine-safety-max-deletion-share=0");
      await installation.deploy(20);
      await installation.untilRunning(20);
      await expectOneVmEach(cloud);
      await eventually(() => expectInitializedNodes(installation));
      expect(await cloud.launches()).toBe(20);

      await installation.declareClass("newer", newer.providerSpec);
      await installation.change({
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } },
        minReadySeconds: 0,
        template: { spec: { class: { kind: "MachineClass", name: "newer" } } },
      });
      await eventually(async () => {
        expect((await vms()).map(({ image }) => image)).toEqual(Array.from({ length: 20 }, () => newer.image));
      }, patienceMs);
      await installation.untilRunning(20);
      await eventually(() => expectInitializedNodes(installation));

      await installation.change({ replicas: 5 });
      await installation.untilRunning(5);
      await eventually(async () => expectOneVmEach(cloud), patienceMs);
      await removeAll(cloud);
    });

    it("creates one VM per machine when it is killed repeatedly during creation", async () => {
      const cloud = await start({ pace: "slow" });
      const { installation } = cloud;
      let current = installation.run();
      await installation.deploy(10);
      for (const launched of [1, 4, 8]) {
        await eventually(async () => expect(await cloud.launches()).toBeGreaterThanOrEqual(launched), patienceMs);
        await current.stop("SIGKILL");
        current = installation.run();
      }
      await installation.untilRunning(10);
      await expectOneVmEach(cloud);
      expect(await cloud.launches()).toBe(10);
    });

    it("evicts the pods of a node within their budget before the VM is deleted", async () => {
      const cloud = await start();
      const { installation, vms } = cloud;
      const { api, server } = installation;
      const workloads = startWorkloads(api);
      onTestFinished(() => workloads.close());
      installation.run();
      await installation.deploy(2);
      await installation.untilRunning(2);
      await workloads.deploy("web", 4);
      await workloads.forbidEvictions("web");
      const [machine] = await installation.machines();
      if (machine === undefined) throw new Error("there is no machine");
      const pods = await workloads.podsOn(nodeOf(machine));
      expect(pods.length).toBeGreaterThan(0);

      const ref = { namespace, name: machine.metadata.name };
      await api.delete(machineResource, ref);
      await eventually(async () => {
        const { status } = await api.get<Machine>(machineResource, ref);
        expect(status?.lastOperation?.description).toContain("PodDisruptionBudget default/web can never be met");
      }, patienceMs);
      expect(await workloads.podsOn(nodeOf(machine))).toEqual(pods);
      expect((await vms()).map((vm) => vm.machine)).toContain(ref.name);

      const spec = { maxUnavailable: 1 };
      await api.patch(podDisruptionBudgetResource, { namespace, name: "web" }, { spec }, { kind: "merge" });
      await eventually(async () => expect((await vms()).map((vm) => vm.machine)).not.toContain(ref.name), patienceMs);
      const evicted = server.requests
        .filter(({ verb, subresource, status }) => verb === "create" && subresource === "eviction" && status < 300)
        .map(({ name: pod }) => pod);
      expect(evicted.toSorted()).toEqual(pods);
      await installation.untilRunning(2);
      await eventually(
        async () =>
          expect((await installation.nodes()).map(({ metadata }) => metadata.name)).not.toContain(nodeOf(machine)),
        patienceMs,
      );
    });

    it("takes over machines, VMs and nodes of MCM", async () => {
      const cloud = await start();
      const { installation } = cloud;
      const names = ["fleet-6f8d5-4kxqz", "fleet-6f8d5-9mlt2", "fleet-6f8d5-wbvcj"];
      const made = await Promise.all(names.map(async (each) => ({ name: each, ...(await cloud.makeAsMcm(each)) })));
      await eventually(async () => {
        const ids = (await installation.nodes()).map(({ spec }) => spec?.providerID ?? "");
        expect(ids.filter((id) => id !== "")).toHaveLength(3);
      }, patienceMs);
      await declareAsMcm(installation.api, made);
      const before = await installation.machines();
      const vms = await cloud.vms();

      installation.run();
      await installation.change({ replicas: 4 });
      await installation.untilRunning(4);
      // The phase has not changed meanwhile: the time of the status changes with it.
      const since = ({ metadata, spec, status }: Machine) => ({
        name: metadata.name,
        uid: metadata.uid,
        node: nodeOf({ metadata, spec }),
        providerID: spec.providerID,
        status: status?.currentStatus,
      });
      const after = (await installation.machines()).filter(({ metadata }) => names.includes(metadata.name));
      expect(after.map(since)).toEqual(before.map(since));
      expect(await cloud.vms()).toEqual(expect.arrayContaining([...vms]));
      expect(await cloud.launches()).toBe(4);
      expect((await installation.api.list(machineSetResource, { namespace })).items).toHaveLength(1);
      await eventually(() => expectInitializedNodes(installation));
      await removeAll(cloud);
    });
  });
}
