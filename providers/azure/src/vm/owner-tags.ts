import type { MachineIdentity } from "@millwright/core";
import { type ClusterKeys, ownsVm, specHashOf as hashOf, withOwnTags } from "@millwright/core/driver-kit";
import { type AzureSpec, mostTags } from "../spec/spec.ts";
import { isSameName } from "./names.ts";
import { vmNameIn } from "./provider-id.ts";

/**
 * The tags that the driver adds to those of the class, in the request that creates. What MCM's driver made has only those of the class. Azure allows no slash in names of tags and
 * compares them without case.
 */
export const ownerTagKeys = {
  managedBy: "millwright.dev-managed-by",
  namespace: "millwright.dev-namespace",
  /** Name of the machine: NICs and disks have names of their own. */
  machine: "millwright.dev-machine",
  machineUid: "millwright.dev-machine-uid",
  machineClass: "millwright.dev-machine-class",
  token: "millwright.dev-token",
  /** Hash of the spec that the VM was made from. */
  specHash: "millwright.dev-spec-hash",
} as const;

/** Value of the tag {@link ownerTagKeys.managedBy}. */
const managedBy = "millwright";

/** Hash of what a VM is made from. The api-versions of the requests are no part of it. */
export function specHashOf({ cloudConfiguration, ...spec }: AzureSpec): string {
  if (cloudConfiguration === undefined) return hashOf(spec);
  const { apiVersions: _, ...cloud } = cloudConfiguration;
  return hashOf({ ...spec, cloudConfiguration: cloud });
}

/**
 * All tags of a new resource ({@link withOwnTags}). A resource without a UID, for lack of tags, is identified like one of MCM's driver, by its name and the tags of the cluster. That there is one VM per machine rests on its name.
 */
export function tagsOf(
  spec: AzureSpec,
  machine: MachineIdentity,
  machineClass: string,
  token: string,
): Record<string, string> {
  const own = {
    [ownerTagKeys.machineUid]: machine.uid,
    [ownerTagKeys.machine]: machine.name,
    [ownerTagKeys.specHash]: specHashOf(spec),
    [ownerTagKeys.namespace]: machine.namespace,
    [ownerTagKeys.token]: token,
    [ownerTagKeys.machineClass]: machineClass,
    [ownerTagKeys.managedBy]: managedBy,
  };
  return withOwnTags(spec.tags, own, mostTags, (key) => key.toLowerCase());
}

/** Tags as Azure shows them. */
export type Tags = Readonly<Record<string, string>>;

/** The value of a tag; empty when there is none. Names of tags are compared without case. */
export function tagOf(tags: Tags | undefined, name: string): string {
  const wanted = name.toLowerCase();
  for (const [key, value] of Object.entries(tags ?? {})) if (key.toLowerCase() === wanted) return value;
  return "";
}

/** Whether a resource carries the tags of a cluster and role. */
export function isOfCluster(tags: Tags | undefined, { cluster, role }: ClusterKeys): boolean {
  const names = new Set(Object.keys(tags ?? {}).map((key) => key.toLowerCase()));
  return names.has(cluster.toLowerCase()) && names.has(role.toLowerCase());
}

/** Tags that identify the owner of a VM, a NIC or a disk. */
export interface Owned {
  /** Name of the VM that it is, or that it was made for. */
  readonly vmName: string;
  readonly tags: Tags | undefined;
}

/**
 * Whether a VM, a NIC or a disk was made for this machine ({@link ownsVm}). VMs have the names of their machines. Parts belong to their VM: if a restored machine keeps a VM, it keeps these too, also
 * when the VM is gone and its tags cannot be read any more.
 */
export function isOwnedBy({ vmName, tags }: Owned, keys: ClusterKeys, machine: MachineIdentity): boolean {
  const { providerId = "" } = machine;
  return ownsVm(machine, {
    machineName: isSameName(vmName, machine.name) ? machine.name : vmName,
    namespace: tagOf(tags, ownerTagKeys.namespace),
    machineUid: tagOf(tags, ownerTagKeys.machineUid),
    isOfCluster: isOfCluster(tags, keys),
    isNamedById: providerId !== "" && isSameName(vmName, vmNameIn(providerId)),
  });
}
