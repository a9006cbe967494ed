import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { eventResource, ignoreNotFound, type KubeObject, nodeResource, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";

const namespace = "default";

describe("the deletion of machines", () => {
  let installation: Installation;
  let current: MillwrightProcess;

  beforeEach(async () => {
    installation = await startInstallation();
  });
  afterEach(async () => {
    await current.stop("SIGKILL");
    await installation.close();
  });

  const phases = async (): Promise<readonly (string | undefined)[]> =>
    (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
  const deploy = (replicas: number) =>
    installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", replicas));
  const scale = (replicas: number) =>
    installation.api.patch(
      machineDeploymentResource,
      { namespace, name: "fleet" },
      { spec: { replicas } },
      { kind: "merge" },
    );

  it.each([
    ["names a driver that is not loaded", { provider: "hetzner" }, {}],
    ["is rejected by its driver", { providerSpec: { color: "red" } }, {}],
    ["has a Secret without user data", {}, { data: { userData: null } }],
  ])(
    "needs nothing but the API server for machines that never had a VM, when their class %s",
    async (_, change, secret) => {
      const { api } = installation;
      await api.create(machineClassResource, { ...machineClass("small"), ...change });
      await api.patch(secretResource, { namespace, name: "cloud" }, secret, { kind: "merge" });
      await deploy(2);
      current = installation.runAlone();
      await eventually(async () => expect(await phases()).toEqual(["CrashLoopBackOff", "CrashLoopBackOff"]), 60_000);
      await scale(0);
      await eventually(async () => expect(await installation.machines()).toEqual([]));
      expect(installation.cloud.vms()).toEqual([]);
    },
  );

  it("continues a deletion that MCM v0.61 left after that of the VM, without another drain", async () => {
    const { api, cloud } = installation;
    await api.create(machineClassResource, machineClass("small"));
    await deploy(1);
    current = installation.runAlone();
    await eventually(async () => expect(await phases()).toEqual(["Running"]), 60_000);
    await current.stop("SIGKILL");
    await scale(0);
    const [machine] = await installation.machines();
    const { name = "", labels } = machine?.metadata ?? {};
    await api.delete(machineResource, { namespace, name });
    const lastUpdateTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const description = "VM deletion was successful. Remove node finalizers";
    const lastOperation = { description, lastUpdateTime, state: "Processing", type: "Delete", details: null };
    const status = { currentStatus: { phase: "Terminating", lastUpdateTime }, lastOperation };
    await api.patch(machineResource, { namespace, name }, { status }, { kind: "merge", subresource: "status" });
    for (const { id } of cloud.vms()) await cloud.deleteVm(id);
    const calls = cloud.calls.length;
    const cordoned = new Set<string>();
    const node = { name: labels?.["node"] ?? "" };
    current = installation.runAlone();
    await eventually(async () => {
      const found = await ignoreNotFound(
        api.get<KubeObject & { spec?: { unschedulable?: boolean } }>(nodeResource, node),
      );
      if (found?.spec?.unschedulable === true) cordoned.add(node.name);
      expect([await installation.machines(), found]).toEqual([[], undefined]);
    });
    expect(cordoned).toEqual(new Set());
    const since = cloud.calls.slice(calls).filter(({ subjects }) => subjects.includes(name));
    expect(since).toEqual([]);
  });

  const messages = async (): Promise<readonly string[]> =>
    (await installation.api.list(eventResource, { namespace })).items.map(({ message }) => String(message));
  const nodeOf = (name: string) => ignoreNotFound(installation.api.get(nodeResource, { name }));

  /** A machine whose deletion was requested and forced, and of which nothing names VM and Node. No process runs. */
  const leaveWithoutNames = async () => {
    const { api } = installation;
    await api.create(machineClassResource, machineClass("small"));
    await deploy(1);
    current = installation.runAlone();
    await eventually(async () => expect(await phases()).toEqual(["Running"]), 60_000);
    await current.stop("SIGKILL");
    await scale(0);
    const [set] = (await api.list(machineSetResource, { namespace })).items;
    const setName = set?.metadata.name ?? "";
    await api.patch(machineSetResource, { namespace, name: setName }, { spec: { replicas: 0 } }, { kind: "merge" });
    const [machine] = await installation.machines();
    const { name = "", labels } = machine?.metadata ?? {};
    const change = { spec: { providerID: null }, metadata: { labels: { node: null, "force-deletion": "True" } } };
    await api.patch(machineResource, { namespace, name }, change, { kind: "merge" });
    await api.delete(machineResource, { namespace, name });
    return labels?.["node"] ?? "";
  };
  const untilDrainedAndGone = async (node: string): Promise<void> => {
    await eventually(async () => {
      const left = [await installation.machines(), installation.cloud.vms(), await nodeOf(node)];
      expect(left).toEqual([[], [], undefined]);
    }, 90_000);
    // A Node that is not found is neither drained nor deleted.
    expect(await messages()).not.toContainEqual(expect.stringContaining("Skipping drain"));
  };

  it("looks again for the Node of a forced one whose look-ups fail for a passing reason", async () => {
    const node = await leaveWithoutNames();
    const { cloud } = installation;
    await cloud.addFault({ operation: "list", code: "Unavailable", times: 1_000 });
    const calls = () => cloud.calls.filter(({ operation }) => operation === "list").length;
    const before = calls();
    current = installation.runAlone("--machine-drain-timeout=1s");
    await eventually(async () => expect(await Promise.resolve(calls())).toBeGreaterThan(before + 8), 120_000);
    await cloud.clearFaults();
    await untilDrainedAndGone(node);
  });

  it("looks for the Node as soon as the class can be used again", async () => {
    const node = await leaveWithoutNames();
    const { api } = installation;
    const [machine] = await installation.machines();
    const id = installation.cloud.vms()[0]?.providerId ?? "";
    await api.patch(
      machineResource,
      { namespace, name: machine?.metadata.name ?? "" },
      { metadata: { labels: { "force-deletion": null } } },
      { kind: "merge" },
    );
    const useProvider = (provider: string) =>
      api.patch(machineClassResource, { namespace, name: "small" }, { provider }, { kind: "merge" });
    await useProvider("hetzner");
    current = installation.runAlone();
    await eventually(async () => {
      const texts = (await installation.machines()).map(({ status }) => status?.lastOperation?.description);
      expect(texts).toEqual([expect.stringContaining("Cannot delete a VM that may exist")]);
    });
    expect(installation.cloud.vms().map(({ providerId }) => providerId)).toEqual([id]);
    await useProvider("mock");
    await untilDrainedAndGone(node);
  });

  it("finds and deletes VMs although their class has a key that the driver rejects, and reports the class at once", async () => {
    const { api, cloud } = installation;
    await api.create(machineClassResource, machineClass("small"));
    await deploy(2);
    current = installation.runAlone();
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]), 60_000);
    await current.stop("SIGKILL");
    // The driver of the previous controllers ignored the key.
    const change = { providerSpec: { color: "red" } };
    await api.patch(machineClassResource, { namespace, name: "small" }, change, { kind: "merge" });
    current = installation.runAlone();
    await eventually(async () => {
      const { items } = await api.list(eventResource, { namespace });
      const about = items.filter((event) => event["reason"] === "InvalidMachineClass");
      const kinds = about.map((event) => String(Reflect.get(Object(event["involvedObject"]), "kind")));
      expect(kinds.toSorted()).toEqual(["MachineClass", "MachineDeployment", "MachineSet"]);
    }, 60_000);
    expect(await phases()).toEqual(["Running", "Running"]);
    // The VM of a machine without its id is found by its tags.
    const [machine] = await installation.machines();
    const { name = "" } = machine?.metadata ?? {};
    await api.patch(machineResource, { namespace, name }, { spec: { providerID: null } }, { kind: "merge" });
    await scale(0);
    await eventually(async () => {
      expect(await installation.machines()).toEqual([]);
      expect(cloud.vms()).toEqual([]);
    }, 60_000);
  });
});
