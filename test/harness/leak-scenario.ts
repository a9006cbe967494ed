import type { ResourceType } from "@millwright/base";
import {
  annotationKeys,
  type Machine,
  machineApiVersion,
  type MachineClass,
  machineClassResource,
  machineResource,
} from "@millwright/core/machine-api";
import { eventResource } from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import { type Installation, machineClass } from "./installation.ts";

const namespace = "default";

/** A list a minute at most is what the flags allow. Milliseconds; only catches hangs. */
const LONG = 300_000;

/** The class whose name is first in the alphabet deletes a VM that several classes list. */
const collector = "a-collector";

/** Flags: a VM is that old before it is in quarantine, and for how long it is. */
const flags = ["--machine-creation-timeout=45s", "--machine-safety-orphan-vms-period=70s"] as const;

type LeakyFleet = Pick<Installation, "api" | "cloud" | "machines" | "runAlone">;

/** Loses the Machines of VMs in every way that is known. Resolves with the ids of these VMs. */
async function leak({ api, cloud, machines }: LeakyFleet): Promise<readonly string[]> {
  const idOf = async (name: string): Promise<string> =>
    (await api.get<Machine>(machineResource, { namespace, name })).spec.providerID ?? "";
  const patch = (type: ResourceType, name: string, change: object) =>
    api.patch(type, { namespace, name }, change, { kind: "merge" });
  const removeByHand = async (type: ResourceType, name: string): Promise<void> => {
    await patch(type, name, { metadata: { finalizers: null } });
    await api.delete(type, { namespace, name });
  };
  const lost = [await idOf("stripped"), await idOf("edited"), await idOf("classless")];
  await removeByHand(machineResource, "stripped");
  await removeByHand(machineResource, "classless");
  await removeByHand(machineClassResource, "z-deleted");
  // A rule of the CRD keeps an id from being changed; it can be removed.
  await patch(machineResource, "edited", { spec: { providerID: null } });
  await patch(machineResource, "edited", { spec: { providerID: "mock:///eu-1/i-none" } });
  await removeByHand(machineResource, "edited");

  const vmOf = (name: string) => cloud.vms().find((vm) => vm.name === name);
  const copyOf = (name: string, tagged: string) => {
    const vm = vmOf(tagged);
    if (vm === undefined) throw new Error(`there is no VM ${tagged}`);
    const { machineType, region, zone, image, labels, tags } = vm;
    return cloud.createVm({
      name,
      token: name,
      machineType,
      region,
      zone,
      image,
      labels,
      tags,
      userData: new Uint8Array(),
    });
  };
  // A driver that made two VMs of one machine, and one that reported a deletion that did not happen.
  lost.push((await copyOf("twin", "kept")).providerId);
  lost.push((await copyOf("undead", "lied")).providerId);
  const lied = (await machines()).find(({ metadata }) => metadata.name === "lied");
  if (lied !== undefined) await removeByHand(machineResource, "lied");
  await cloud.deleteVm(vmOf("lied")?.id ?? "");
  return lost;
}

/**
 * Finds VMs that lost their machine in every way that is known, while processes are killed: while they create, in the middle of a list, and between quarantine and deletion. They are reported, put in
 * quarantine and deleted.
 *
 * @returns the ids of these VMs, of the VMs that are left, and of those that Machines name
 */
export async function collectLeaks(fleet: LeakyFleet): Promise<{
  readonly collected: readonly string[];
  readonly vms: readonly string[];
  readonly named: readonly string[];
}> {
  const { api, cloud, machines, runAlone } = fleet;
  const vmIds = (): readonly string[] =>
    cloud
      .vms()
      .filter(({ state }) => state !== "terminating" && state !== "terminated")
      .map(({ providerId }) => providerId)
      .toSorted();
  const listed = (outcome: boolean) => (): Promise<void> =>
    eventually(async () => {
      const last = cloud.calls.findLast(({ operation }) => operation === "list");
      expect([last?.operation, last?.outcome !== undefined]).toEqual(["list", outcome]);
    }, LONG);
  const quarantined = async (): Promise<readonly string[]> => {
    const { metadata } = await api.get<MachineClass>(machineClassResource, { namespace, name: collector });
    return Object.keys(JSON.parse(metadata.annotations?.[annotationKeys.orphanVms] ?? "{}").vms ?? {}).toSorted();
  };
  const reasons = async (): Promise<readonly unknown[]> =>
    (await api.list(eventResource, { namespace })).items.map(({ reason }) => reason);

  for (const name of [collector, "z-deleted"]) await api.create(machineClassResource, machineClass(name));
  for (const name of ["kept", "stripped", "edited", "lied", "classless"]) {
    const className = name === "classless" ? "z-deleted" : collector;
    await api.create(machineResource, {
      apiVersion: machineApiVersion,
      kind: "Machine",
      metadata: { name, namespace },
      spec: { class: { kind: "MachineClass", name: className } },
    });
  }
  const first = runAlone(...flags, "--machine-safety-orphan-vms=off");
  await eventually(async () => {
    const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
    expect(phases).toEqual(Array.from({ length: 5 }, () => "Running"));
  }, LONG);
  await first.stop("SIGKILL");
  const lost = (await leak(fleet)).toSorted();
  const all = [...vmIds()];

  // Killed in the middle of a list.
  await cloud.addFault({ operation: "list", delayMs: 600_000, times: 1 });
  const second = runAlone(...flags);
  await listed(false)();
  await second.stop("SIGKILL");
  expect(vmIds()).toEqual(all);

  // Killed between quarantine and deletion.
  const third = runAlone(...flags);
  await eventually(async () => expect(await quarantined()).toEqual(lost), LONG);
  await eventually(async () => expect(await reasons()).toContain("OrphanVMFound"));
  await third.stop("SIGKILL");
  expect(vmIds()).toEqual(all);

  // A list that fails deletes nothing, and the next one does the rest.
  await cloud.addFault({ operation: "list", code: "Unavailable", times: 1 });
  runAlone(...flags);
  await eventually(async () => expect(await reasons()).toContain("FailedListVMs"), LONG);
  expect(vmIds()).toEqual(all);
  await eventually(async () => expect(vmIds()).toEqual(all.filter((id) => !lost.includes(id))), LONG);
  await eventually(async () => expect(await reasons()).toContain("OrphanVMDeleted"));
  const named = (await machines()).map(({ spec }) => spec.providerID ?? "");
  return { collected: lost, vms: vmIds(), named };
}
