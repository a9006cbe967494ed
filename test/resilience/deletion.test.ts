import { machineClassResource, machineDeploymentResource, machineResource } from "@millwright/core";
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
    ["is rejected by its driver", { providerSpec: { colour: "red" } }, {}],
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

  it("finds and deletes VMs although their class has a key that the driver rejects, and reports the class at once", async () => {
    const { api, cloud } = installation;
    await api.create(machineClassResource, machineClass("small"));
    await deploy(2);
    current = installation.runAlone();
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]), 60_000);
    await current.stop("SIGKILL");
    // The driver of the previous controllers ignored the key.
    const change = { providerSpec: { colour: "red" } };
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
