import {
  annotationKeys,
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const namespace = "default";
let installation: Installation;

afterEach(async () => {
  await installation.close();
});

const machine = (name: string, extra: object = {}): Machine & { apiVersion: string; kind: string } => ({
  apiVersion: machineApiVersion,
  kind: "Machine",
  metadata: { name, namespace, ...extra },
  spec: { class: { kind: "MachineClass", name: "small" } },
});
const read = (name: string): Promise<Machine> => installation.api.get<Machine>(machineResource, { namespace, name });
const hasConflict = async (name: string): Promise<boolean> =>
  (await read(name)).status?.conditions?.some(({ type }) => type === "Conflict") ?? false;
const isGone = async (name: string): Promise<void> => {
  expect((await installation.machines()).map(({ metadata }) => metadata.name)).not.toContain(name);
};

/** A machine that is Running, and a copy of its manifest under another name, as `kubectl get -o yaml`, an editor and `kubectl create` make it. */
async function startWithCopy(copyName: string): Promise<Machine> {
  installation = await startInstallation();
  await installation.api.create(machineClassResource, machineClass("small"));
  await installation.api.create(machineResource, machine("real"));
  installation.runAlone();
  await eventually(async () => expect((await read("real")).status?.currentStatus?.phase).toBe("Running"));
  const real = await read("real");
  const { labels, annotations } = real.metadata;
  const copy = { ...machine(copyName, { labels, annotations }), spec: real.spec };
  await installation.api.create(machineResource, copy);
  return real;
}

it("a copied Machine never becomes available, and its deletion leaves VM, node and the real Machine alone", async () => {
  const real = await startWithCopy("copy");
  await eventually(async () => {
    const { status } = await read("copy");
    expect(status?.currentStatus?.phase).toBe("CrashLoopBackOff");
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Conflict", status: "True", message: expect.stringContaining("Machine real") }),
    );
  });
  const calls = installation.cloud.calls.length;
  await installation.api.delete(machineResource, { namespace, name: "copy" });
  await eventually(() => isGone("copy"));
  const nodes = await installation.api.list(nodeResource);
  expect(
    nodes.items.map(({ metadata, ...rest }) => [metadata.name, JSON.stringify(rest).includes("unschedulable")]),
  ).toEqual([[real.metadata.labels?.["node"], false]]);
  expect(installation.cloud.vms()).toHaveLength(1);
  expect(installation.cloud.calls).toHaveLength(calls);
  expect(await read("real")).toMatchObject({ spec: real.spec, status: { currentStatus: { phase: "Running" } } });
});

it("a set deletes a copy before the real machines, whatever priority and age it was given, and keeps the VM", async () => {
  installation = await startInstallation();
  const { api, cloud } = installation;
  await api.create(machineClassResource, machineClass("small"));
  await api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
  installation.runAlone();
  const running = async (): Promise<readonly string[]> =>
    (await installation.machines())
      .filter(({ status }) => status?.currentStatus?.phase === "Running")
      .map(({ metadata }) => metadata.name);
  await eventually(async () => expect(await running()).toHaveLength(2));
  const before = await running();
  const { metadata, spec } = await read(before[0] ?? "");
  const annotations = { ...metadata.annotations, [annotationKeys.machinePriority]: "99" };
  await api.create(machineResource, { ...machine("copy", { labels: metadata.labels, annotations }), spec });
  await eventually(() => isGone("copy"));
  expect(await running()).toEqual(before);
  expect((await installation.machines()).map((each) => each.metadata.name)).toEqual(before);
  expect(cloud.vms()).toHaveLength(2);
  expect(cloud.calls.filter(({ operation }) => operation === "delete")).toEqual([]);
});

it("a copied Machine is no longer in conflict once the real one is deleted with its VM", async () => {
  await startWithCopy("copy");
  await eventually(async () => expect(await hasConflict("copy")).toBe(true));
  await installation.api.delete(machineResource, { namespace, name: "real" });
  await eventually(() => isGone("real"));
  expect(installation.cloud.vms()).toEqual([]);
  await eventually(async () => {
    expect(await hasConflict("copy")).toBe(false);
  });
});

it("a VM belongs to the Machine that its tags name, also when its copy is older and there is no node", async () => {
  installation = await startInstallation();
  const { api, cloud } = installation;
  await api.create(machineClassResource, machineClass("small"));
  await api.create(machineResource, machine("real"));
  const first = installation.runAlone("--target-kubeconfig=none");
  await eventually(async () => expect((await read("real")).status?.currentStatus?.phase).toBe("Available"));
  await first.stop("SIGKILL");
  // The real Machine is lost, and restored after its copy was created.
  const { spec } = await read("real");
  await api.patch(machineResource, { namespace, name: "real" }, { metadata: { finalizers: null } }, { kind: "merge" });
  await api.delete(machineResource, { namespace, name: "real" });
  const copy = await api.create(machineResource, { ...machine("copy"), spec });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const restored = await api.create(machineResource, { ...machine("real"), spec });
  expect(Date.parse(String(restored.metadata.creationTimestamp))).toBeGreaterThan(
    Date.parse(String(copy.metadata.creationTimestamp)),
  );
  installation.runAlone("--target-kubeconfig=none");
  // The tags are read with the first list of VMs, within the first minute.
  await eventually(async () => {
    const phases = [await read("real"), await read("copy")].map(({ status }) => status?.currentStatus?.phase);
    expect(phases).toEqual(["Available", "CrashLoopBackOff"]);
    expect(await hasConflict("copy")).toBe(true);
  }, 180_000);
  await api.delete(machineResource, { namespace, name: "copy" });
  await eventually(() => isGone("copy"));
  expect(cloud.vms()).toHaveLength(1);
  await api.delete(machineResource, { namespace, name: "real" });
  await eventually(() => isGone("real"));
  expect(cloud.vms()).toEqual([]);
});

it("the id of a VM cannot be changed to that of another VM, but removed", async () => {
  installation = await startInstallation();
  await installation.api.create(machineResource, { ...machine("m"), spec: { providerID: "mock:///eu-1/i-1" } });
  const write = (providerID: string | null) =>
    installation.api.patch(machineResource, { namespace, name: "m" }, { spec: { providerID } }, { kind: "merge" });
  await expect(write("mock:///eu-1/i-2")).rejects.toThrow("cannot be changed to another VM");
  await expect(write("MOCK:///eu-1/i-1")).resolves.toBeDefined();
  await expect(write(null)).resolves.toBeDefined();
  await expect(write("mock:///eu-1/i-2")).resolves.toBeDefined();
});
