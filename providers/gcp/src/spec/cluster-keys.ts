import { MachineError } from "@millwright/core";
import type { ClusterKeys } from "@millwright/core/driver-kit";

const clusterTagPart = "kubernetes-io-cluster-";
const roleTagPart = "kubernetes-io-role-";

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
  return { cluster: holding(clusterTagPart), role: holding(roleTagPart) };
}

/**
 * Prevents a class without cluster and role tags from creating VMs: a list would not show them, so none that lost its machine would be found again.
 *
 * @throws MachineError InvalidArgument
 */
export function requireClusterTags(tags: readonly string[]): void {
  const missing = [clusterTagPart, roleTagPart].filter((part) => !tags.some((tag) => tag.includes(part)));
  if (missing.length === 0) return;
  const parts = missing.map((part) => `one that contains "${part}"`).join(" and ");
  throw new MachineError("InvalidArgument", `providerSpec.tags: must have ${parts} before the class can create VMs`);
}

/** Whether VMs with these tags belong to a cluster and role. */
export function isInCluster(tags: readonly string[], keys: ClusterKeys): boolean {
  const { cluster, role } = clusterKeysOf(tags);
  return keys.cluster !== "" && keys.role !== "" && cluster === keys.cluster && role === keys.role;
}
