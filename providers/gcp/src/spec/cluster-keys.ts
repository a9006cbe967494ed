import type { ClusterKeys } from "@millwright/core/driver-kit";

/**
 * The tags by which the VMs of a class, or of a list, are known. Of several that fit all count, in the order of the alphabet: Compute Engine does not promise to keep
 * theirs. MCM's driver takes the last.
 */
export function clusterKeysOf(tags: readonly string[]): ClusterKeys {
  const holding = (part: string): string =>
    tags
      .filter((tag) => tag.includes(part))
      .toSorted()
      .join(",");
  return { cluster: holding("kubernetes-io-cluster-"), role: holding("kubernetes-io-role-") };
}

/** Whether VMs with these tags belong to a cluster and role. */
export function isInCluster(tags: readonly string[], keys: ClusterKeys): boolean {
  const { cluster, role } = clusterKeysOf(tags);
  return keys.cluster !== "" && keys.role !== "" && cluster === keys.cluster && role === keys.role;
}
