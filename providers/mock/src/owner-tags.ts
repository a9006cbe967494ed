import type { MachineIdentity } from "@millwright/core";
import { ownsVm } from "@millwright/core/driver-kit";
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

/** Tags to find the VMs by that carry a machine's name, of whatever cluster: that of a class may have changed since. */
export function nameTags(machine: MachineIdentity): Readonly<Record<string, string>> {
  return { [ownerTagKeys.managedBy]: managedBy, [ownerTagKeys.machineName]: machine.name };
}

/** Whether a VM belongs to a cluster. */
export const isOfCluster = ({ tags }: Pick<Vm, "tags">, cluster: string): boolean =>
  Object.entries(clusterTags(cluster)).every(([key, value]) => tags[key] === value);

/** Whether a VM was made for this machine ({@link ownsVm}): decided by its owner tags. */
export function isOwnedBy(vm: Pick<Vm, "tags" | "providerId">, cluster: string, machine: MachineIdentity): boolean {
  const tagOf = (key: string): string => vm.tags[key] ?? "";
  return (
    tagOf(ownerTagKeys.managedBy) === managedBy &&
    ownsVm(machine, {
      machineName: tagOf(ownerTagKeys.machineName),
      namespace: tagOf(ownerTagKeys.namespace),
      machineUid: tagOf(ownerTagKeys.machineUid),
      isOfCluster: isOfCluster(vm, cluster),
      isNamedById: vm.providerId === machine.providerId,
    })
  );
}
