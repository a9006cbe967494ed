import type { MachineIdentity } from "@millwright/core";
import { isMadeFor, stableHash } from "@millwright/core/driver-kit";
import { readProviderId } from "./provider-id.ts";
import type { AwsSpec } from "../spec/spec.ts";
import type { Vm } from "./vm.ts";

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

/** EC2's limit for the tags of one resource. */
const mostTags = 50;

/** How many tags a class may have besides `Name`. */
export const mostClassTags: number = mostTags - 1;

/**
 * All tags of a new VM. Those of the class cannot overwrite the driver's. A class of MCM may have so many that not all of the driver's fit: then the less needed are left out, first those that only
 * people read. A VM without a UID is known as those of MCM's driver are, by `Name` and the tags of the cluster. That there is one VM per machine rests on the client token, which EC2 keeps
 * elsewhere.
 */
export function tagsOf(
  spec: AwsSpec,
  machine: MachineIdentity,
  machineClass: string,
  token: string,
): Readonly<Record<string, string>> {
  const own: readonly (readonly [string, string])[] = [
    [ownerTagKeys.name, machine.name],
    [ownerTagKeys.machineUid, machine.uid],
    [ownerTagKeys.token, token],
    [ownerTagKeys.specHash, specHashOf(spec)],
    [ownerTagKeys.namespace, machine.namespace],
    [ownerTagKeys.machineClass, machineClass],
    [ownerTagKeys.managedBy, managedBy],
  ];
  const ownKeys = new Set(own.map(([key]) => key));
  const given = Object.entries(spec.tags).filter(([key]) => !ownKeys.has(key));
  return Object.fromEntries([...given, ...own.slice(0, mostTags - given.length)]);
}

/** Tags of a VM as EC2 lists them. */
export type Tags = ReadonlyMap<string, string>;

/** Whether a VM belongs to a cluster and role. */
export const isOfCluster = (tags: Tags, { cluster, role }: ClusterKeys): boolean => tags.has(cluster) && tags.has(role);

/**
 * Whether a VM was made for this machine ({@link isMadeFor}). Ids of EC2 are never used again, so that whatever region a provider id names, its id decides which VM it means.
 */
export function isOwnedBy({ id, tags }: Pick<Vm, "id" | "tags">, keys: ClusterKeys, machine: MachineIdentity): boolean {
  const { providerId = "" } = machine;
  return isMadeFor(machine, {
    machineName: tags.get(ownerTagKeys.name) ?? "",
    namespace: tags.get(ownerTagKeys.namespace) ?? "",
    machineUid: tags.get(ownerTagKeys.machineUid) ?? "",
    isOfCluster: isOfCluster(tags, keys),
    isNamedById: providerId !== "" && readProviderId(providerId).instanceId === id,
  });
}
