import type { MachineIdentity } from "@millwright/core";
import { stableHash } from "@millwright/core/driver-kit";
import type { AwsSpec } from "./spec.ts";

/**
 * The tags that the driver adds to those of the class, in the request that creates. VMs that MCM's driver made have only `Name` and those of
 * the class.
 */
export const ownerTagKeys = {
  /** Name of the machine, as with MCM's driver. */
  name: "Name",
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

/** The two tag keys that all VMs of a cluster and role have. */
export interface ClusterKeys {
  readonly cluster: string;
  readonly role: string;
}

/** The keys of a class by which its VMs are known. Of several that fit, the first in the alphabet; MCM's driver takes any. */
export function clusterKeysOf({ tags }: Pick<AwsSpec, "tags">): ClusterKeys {
  const keys = Object.keys(tags).toSorted();
  const holding = (part: string): string => keys.find((key) => key.includes(part)) ?? "";
  return { cluster: holding("kubernetes.io/cluster/"), role: holding("kubernetes.io/role/") };
}

/** What is asked for, told apart from what it is asked with: the secret and the user data are not part of it. */
export const specHashOf = (spec: AwsSpec): string => stableHash(spec).slice(0, 16);

/** All tags of a new VM. Those of the class cannot overwrite the driver's. */
export function tagsOf(
  spec: AwsSpec,
  machine: MachineIdentity,
  machineClass: string,
  token: string,
): Readonly<Record<string, string>> {
  return {
    ...spec.tags,
    [ownerTagKeys.name]: machine.name,
    [ownerTagKeys.managedBy]: managedBy,
    [ownerTagKeys.namespace]: machine.namespace,
    [ownerTagKeys.machineUid]: machine.uid,
    [ownerTagKeys.machineClass]: machineClass,
    [ownerTagKeys.token]: token,
    [ownerTagKeys.specHash]: specHashOf(spec),
  };
}

/** Tags of a VM as EC2 lists them. */
export type Tags = ReadonlyMap<string, string>;

/**
 * Whether a VM was made for this machine: the cluster's and the role's tag, the machine's name and, where both sides know it, its UID. A machine
 * that was deleted and created anew under the same name has another UID, and so other VMs.
 */
export function isOwnedBy(tags: Tags, keys: ClusterKeys, machine: MachineIdentity): boolean {
  const uid = tags.get(ownerTagKeys.machineUid) ?? "";
  return (
    tags.has(keys.cluster) &&
    tags.has(keys.role) &&
    tags.get(ownerTagKeys.name) === machine.name &&
    (uid === "" || machine.uid === "" || uid === machine.uid)
  );
}
