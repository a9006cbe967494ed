import type { ClusterKeys } from "@millwright/core/driver-kit";

/** What the keys contain of the two tags that all VMs of a cluster and role have. */
export const clusterTagPart = "kubernetes.io/cluster/";
/** @see clusterTagPart */
export const roleTagPart = "kubernetes.io/role/";

/** The keys of a class by which its VMs are known. Of several that fit, the first in the alphabet; MCM's driver takes any. */
export function clusterKeysOf({ tags }: { readonly tags: Readonly<Record<string, string>> }): ClusterKeys {
  const keys = Object.keys(tags).toSorted();
  const holding = (part: string): string => keys.find((key) => key.includes(part)) ?? "";
  return { cluster: holding(clusterTagPart), role: holding(roleTagPart) };
}
