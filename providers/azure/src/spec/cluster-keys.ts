import type { ClusterKeys } from "@millwright/core/driver-kit";

/** What the two tag keys begin with that all resources of a cluster and role have. */
export const clusterTagStart = "kubernetes.io-cluster-";
/** @see clusterTagStart */
export const roleTagStart = "kubernetes.io-role-";

/** The keys of a class by which its resources are known. Of several that fit, the first in the alphabet; MCM's driver takes any. */
export function clusterKeysOf({ tags }: { readonly tags: Readonly<Record<string, string>> }): ClusterKeys {
  const keys = Object.keys(tags).toSorted();
  const starting = (start: string): string => keys.find((key) => key.startsWith(start)) ?? "";
  return { cluster: starting(clusterTagStart), role: starting(roleTagStart) };
}
