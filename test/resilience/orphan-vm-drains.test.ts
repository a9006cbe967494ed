import {
  annotationKeys,
  machineApiVersion,
  type MachineClass,
  machineClassResource,
  machineResource,
} from "@millwright/core/machine-api";
import { eventResource, isNotFound, type KubeObject, nodeResource, podResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type ManagedFleet, startManagedFleet } from "../harness/managed-fleet.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";

const namespace = "default";
const FLEET = 3;
const settings = { creationTimeoutMs: 15_000 };
const LONG = 90_000;
let fleet: ManagedFleet;
let workloads: RunningWorkloads;

beforeEach(async () => {
  fleet = await startManagedFleet(FLEET);
  workloads = startWorkloads(fleet.api);
});
afterEach(async () => {
  await workloads.close();
  await fleet.close();
});

interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
}

interface Lost {
  readonly vm: string;
  readonly node: string;
  /** UIDs of the pods on the Node. */
  readonly pods: readonly string[];
}

const vmIds = (): readonly string[] => fleet.cloud.vms().map(({ providerId }) => providerId);
const readNode = async (name: string): Promise<NodeObject | undefined> => {
  try {
    return await fleet.api.get<NodeObject>(nodeResource, { name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
/** Whether the Node is cordoned, and why. */
const cordonOf = async (name: string): Promise<readonly unknown[]> => {
  const node = await readNode(name);
  return [node?.spec?.unschedulable === true, node?.metadata.annotations?.[annotationKeys.orphanNode]];
};
const podsOn = async (name: string): Promise<readonly string[]> => {
  const { items } = await fleet.api.list<KubeObject & { spec?: { nodeName?: string } }>(podResource, { namespace });
  return items
    .filter(({ metadata, spec }) => spec?.nodeName === name && metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.uid ?? "")
    .toSorted();
};
const quarantine = async (): Promise<string> => {
  const { metadata } = await fleet.api.get<MachineClass>(machineClassResource, { namespace, name: "small" });
  return metadata.annotations?.[annotationKeys.orphanVms] ?? "";
};
const reasons = async (): Promise<readonly unknown[]> =>
  (await fleet.api.list(eventResource, { namespace })).items.map(({ reason }) => reason);
const lists = (): number => fleet.cloud.calls.filter(({ operation }) => operation === "list").length;
/** So many further lists were read. */
const afterLists = async (count: number): Promise<void> => {
  const from = lists();
  await eventually(async () => expect(lists()).toBeGreaterThan(from + count), LONG);
};

/** A fleet with pods on each Node, one of whose Machines is lost while no controller runs. */
async function loseOne(): Promise<Lost> {
  const { stop } = await fleet.manage({ settings });
  await fleet.untilRunning(FLEET);
  await workloads.deploy("web", 2 * FLEET);
  const [machine] = await fleet.machines();
  const node = machine?.metadata.labels?.["node"] ?? "";
  await eventually(async () => expect(await podsOn(node)).not.toEqual([]), LONG);
  await stop();
  const ref = { namespace, name: machine?.metadata.name ?? "" };
  await fleet.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
  await fleet.api.delete(machineResource, ref);
  return { vm: machine?.spec.providerID ?? "", node, pods: await podsOn(node) };
}

const adopting = (providerID: string): KubeObject => ({
  apiVersion: machineApiVersion,
  kind: "Machine",
  metadata: { name: "rescued", namespace },
  spec: { providerID, class: { kind: "MachineClass", name: "small" } },
});

it(
  "a VM without Machine: its Node is cordoned in quarantine, drained within its budget, and deleted after the VM",
  { timeout: 300_000 },
  async () => {
    const { vm, node, pods } = await loseOne();
    const allow = await workloads.forbidEvictions("web");
    await fleet.manage({ settings });
    await eventually(async () => expect(await quarantine()).toContain(vm), LONG);
    await eventually(async () => expect(await cordonOf(node)).toEqual([true, expect.stringContaining(vm)]), LONG);
    await eventually(async () => expect(await reasons()).toContain("OrphanVMDraining"), LONG);
    await afterLists(5);
    expect([await podsOn(node), vmIds().includes(vm)]).toEqual([pods, true]);
    await allow();
    await eventually(async () => expect(await podsOn(node)).toEqual([]), LONG);
    await eventually(async () => expect(vmIds()).not.toContain(vm), LONG);
    await eventually(async () => expect(await readNode(node)).toBeUndefined(), LONG);
    await eventually(async () => expect(await quarantine()).toBe(""), LONG);
    await fleet.untilRunning(FLEET);
  },
);

it(
  "a VM without Machine that gets one in the middle of its drain keeps its pods, and its Node takes pods again",
  { timeout: 300_000 },
  async () => {
    const { vm, node, pods } = await loseOne();
    await workloads.forbidEvictions("web");
    await fleet.manage({ settings });
    await eventually(async () => expect(await reasons()).toContain("OrphanVMDraining"), LONG);
    await fleet.api.create(machineResource, adopting(vm));
    await eventually(async () => expect(await cordonOf(node)).toEqual([false, undefined]), LONG);
    await eventually(async () => expect(await quarantine()).toBe(""), LONG);
    await afterLists(5);
    expect([await podsOn(node), vmIds().includes(vm)]).toEqual([expect.arrayContaining([...pods]), true]);
    expect(await cordonOf(node)).toEqual([false, undefined]);
  },
);

it("a VM without Machine is drained at most for the drain timeout", { timeout: 300_000 }, async () => {
  const { vm, node } = await loseOne();
  await workloads.forbidEvictions("web");
  await fleet.manage({ settings: { ...settings, drainTimeoutMs: 4_000 } });
  await eventually(async () => expect(vmIds()).not.toContain(vm), LONG);
  expect(await reasons()).toEqual(expect.arrayContaining(["OrphanVMDraining", "OrphanVMDrained"]));
  await eventually(async () => expect(await readNode(node)).toBeUndefined(), LONG);
});

it("in mode report the Node of a VM without Machine is left alone", { timeout: 300_000 }, async () => {
  const { vm, node } = await loseOne();
  await fleet.manage({ settings, orphanVms: "report" });
  await eventually(async () => expect(await quarantine()).toContain(vm), LONG);
  await afterLists(5);
  expect(await cordonOf(node)).toEqual([false, undefined]);
});
