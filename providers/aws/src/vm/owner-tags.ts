import type { MachineIdentity } from "@millwright/core";
import { type ClusterKeys, ownsVm, specHashOf, withOwnTags } from "@millwright/core/driver-kit";
import { type AwsSpec, mostTags, nameTag } from "../spec/spec.ts";
import { readProviderId } from "./provider-id.ts";

/**
 * The tags that the driver adds to those of the class, in the request that creates. VMs that MCM's driver made have only `Name` and those of
 * the class.
 */
export const ownerTagKeys = {
  /** Name of the machine, as with MCM's driver. */
  name: nameTag,
  managedBy: "millwright.dev/managed-by",
  namespace: "millwright.dev/namespace",
  machineUid: "millwright.dev/machine-uid",
  machineClass: "millwright.dev/machine-class",
  token: "millwright.dev/token",
  /** Hash of the spec that the VM was made from. */
  specHash: "millwright.dev/spec-hash",
} as const;

/** Value of the tag {@link ownerTagKeys.managedBy}. */
const managedBy = "millwright";

/**
 * All tags of a new VM ({@link withOwnTags}). Where not all fit, those go first that only people read. A VM without a UID is known as those of MCM's driver are, by `Name` and the tags of the cluster. That there is one VM
 * per machine rests on the client token, which EC2 keeps elsewhere.
 */
export function tagsOf(
  spec: AwsSpec,
  machine: MachineIdentity,
  machineClass: string,
  token: string,
): Readonly<Record<string, string>> {
  const own = {
    [ownerTagKeys.name]: machine.name,
    [ownerTagKeys.machineUid]: machine.uid,
    [ownerTagKeys.token]: token,
    [ownerTagKeys.specHash]: specHashOf(spec),
    [ownerTagKeys.namespace]: machine.namespace,
    [ownerTagKeys.machineClass]: machineClass,
    [ownerTagKeys.managedBy]: managedBy,
  };
  return withOwnTags(spec.tags, own, mostTags);
}

/** Tags of a VM as EC2 lists them. */
export type Tags = ReadonlyMap<string, string>;

/** Whether a VM belongs to a cluster and role. */
export const isOfCluster = (tags: Tags, { cluster, role }: ClusterKeys): boolean => tags.has(cluster) && tags.has(role);

/** Tags that identify the owner of a VM. */
export interface Owned {
  readonly id: string;
  readonly tags: Tags;
}

/**
 * Whether a VM was made for this machine ({@link ownsVm}). Ids of EC2 are never used again, so that whatever region a provider id names, its id decides which VM it means.
 */
export function isOwnedBy({ id, tags }: Owned, keys: ClusterKeys, machine: MachineIdentity): boolean {
  const { providerId = "" } = machine;
  return ownsVm(machine, {
    machineName: tags.get(ownerTagKeys.name) ?? "",
    namespace: tags.get(ownerTagKeys.namespace) ?? "",
    machineUid: tags.get(ownerTagKeys.machineUid) ?? "",
    isOfCluster: isOfCluster(tags, keys),
    isNamedById: providerId !== "" && readProviderId(providerId).instanceId === id,
  });
}
