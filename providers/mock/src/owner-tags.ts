import type { MachineIdentity } from "@millwright/core";
import type { Vm } from "./vm.ts";

/** The tags by which the driver knows its VMs. They are part of the request that creates the VM, so no VM is ever without. */
export const ownerTagKeys = {
  /** Always {@link managedBy}: VMs without it are never touched. */
  managedBy: "millwright.dev/managed-by",
  cluster: "millwright.dev/cluster",
  namespace: "millwright.dev/namespace",
  machineName: "millwright.dev/machine-name",
  machineUid: "millwright.dev/machine-uid",
  machineClass: "millwright.dev/machine-class",
  token: "millwright.dev/token",
  /** Hash of the spec that the VM was made from. */
  specHash: "millwright.dev/spec-hash",
  /** `true` once `initializeMachine` has run. */
  initialized: "millwright.dev/initialized",
} as const;

/** Value of the tag {@link ownerTagKeys.managedBy}. */
export const managedBy = "millwright";

/** Tags that all VMs of a cluster have. */
export function clusterTags(cluster: string): Readonly<Record<string, string>> {
  return { [ownerTagKeys.managedBy]: managedBy, [ownerTagKeys.cluster]: cluster };
}

/** Tags to find the VMs of a machine by. */
export function machineTags(cluster: string, machine: MachineIdentity): Readonly<Record<string, string>> {
  return { ...clusterTags(cluster), [ownerTagKeys.machineName]: machine.name };
}

/**
 * Whether a VM was made for this machine: our tag, this cluster, the machine's name and, where both sides know it, its UID. A machine
 * that was deleted and created anew under the same name has another UID, and so other VMs.
 */
export function isOwnedBy(vm: Pick<Vm, "tags">, cluster: string, machine: MachineIdentity): boolean {
  const wanted = Object.entries(machineTags(cluster, machine));
  const uid = vm.tags[ownerTagKeys.machineUid] ?? "";
  return (
    wanted.every(([key, value]) => vm.tags[key] === value) && (uid === "" || machine.uid === "" || uid === machine.uid)
  );
}
