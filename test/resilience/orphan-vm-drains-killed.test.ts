import { annotationKeys, machineApiVersion, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { eventResource, isNotFound, type KubeObject, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, startInstallation } from "../harness/installation.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";

const namespace = "default";
/** A list a minute at most is what the flags allow. Milliseconds; only catches hangs. */
const LONG = 300_000;
const flags = ["--machine-creation-timeout=45s", "--machine-safety-orphan-vms-period=70s"] as const;

let installation: Installation;
let workloads: RunningWorkloads | undefined;
beforeEach(async () => {
  installation = await startInstallation();
});
afterEach(async () => {
  await workloads?.close();
  workloads = undefined;
  await installation.close();
});

/** A Node, as far as the test reads it; `undefined`: there is none. */
async function readNode(name: string): Promise<readonly unknown[] | undefined> {
  try {
    const { api } = installation;
    const { metadata, spec } = await api.get<KubeObject & { spec?: { unschedulable?: boolean } }>(nodeResource, {
      name,
    });
    return [spec?.unschedulable === true, metadata.annotations?.[annotationKeys.orphanNode] !== undefined];
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Two Machines with pods on their Nodes, one of which is lost while no process runs. */
async function loseOne() {
  const { api, cloud, machines, runAlone } = installation;
  const running = (workloads = startWorkloads(api));
  await api.create(machineClassResource, machineClass("small"));
  for (const name of ["kept", "lost"])
    await api.create(machineResource, {
      apiVersion: machineApiVersion,
      kind: "Machine",
      metadata: { name, namespace },
      spec: { class: { kind: "MachineClass", name: "small" } },
    });
  const process = runAlone(...flags);
  await eventually(async () => {
    const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
    expect(phases).toEqual(["Running", "Running"]);
  }, LONG);
  const machine = (await machines()).find(({ metadata }) => metadata.name === "lost");
  const node = machine?.metadata.labels?.["node"] ?? "";
  await running.deploy("web", 4);
  const allow = await running.forbidEvictions("web");
  await eventually(async () => expect(await running.podsOn(node)).not.toEqual([]), LONG);
  await process.stop("SIGKILL");
  const ref = { namespace, name: "lost" };
  await api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
  await api.delete(machineResource, ref);
  const vm = cloud.vms().find(({ providerId }) => providerId === machine?.spec.providerID);
  return { node, vm: vm?.id ?? "", allow, podsOn: running.podsOn };
}

it(
  "drains the Node of a VM without machine within its budget, and deletes it, although processes are killed in quarantine, drain and deletion",
  { timeout: 1_800_000 },
  async () => {
    const { api, cloud, runAlone } = installation;
    const { node, vm, allow, podsOn } = await loseOne();
    const pods = await podsOn(node);
    const reasons = async (): Promise<readonly unknown[]> =>
      (await api.list(eventResource, { namespace })).items.map(({ reason }) => reason);

    const inQuarantine = runAlone(...flags);
    await eventually(async () => expect(await readNode(node)).toEqual([true, true]), LONG);
    await inQuarantine.stop("SIGKILL");

    const inDrain = runAlone(...flags);
    await eventually(async () => expect(await reasons()).toContain("OrphanVMDraining"), LONG);
    await inDrain.stop("SIGKILL");
    expect(await podsOn(node)).toEqual(pods);

    await cloud.addFault({ operation: "delete", delayMs: 600_000, times: 1 });
    const inDeletion = runAlone(...flags);
    const lists = () => cloud.calls.filter(({ operation }) => operation === "list").length;
    const before = lists();
    await eventually(async () => expect(lists()).toBeGreaterThan(before + 2), LONG);
    expect(await podsOn(node)).toEqual(pods);
    await allow();
    await eventually(async () => expect(cloud.calls.at(-1)?.operation).toBe("delete"), LONG);
    expect(await podsOn(node)).toEqual([]);
    await inDeletion.stop("SIGKILL");
    await cloud.deleteVm(vm);

    runAlone(...flags);
    await eventually(async () => expect(await readNode(node)).toBeUndefined(), LONG);
    await eventually(async () => expect(await reasons()).toContain("OrphanVMDeleted"), LONG);
    expect(cloud.vms().map(({ name }) => name)).toEqual(["kept"]);
  },
);
