import { matchNodeByProviderId, type NodeIdentity, type NodeMatch, type VmIdentity } from "@millwright/core";
import { systemUuidOf } from "./vm/identity.ts";

/**
 * Whether a Node is that of a VM: by its provider id, and without one by the UUID of its firmware, which is that of the VM. A kubelet that cannot read the firmware reports another
 * UUID, so only an equal one proves something.
 */
export function matchNode(vm: VmIdentity, node: NodeIdentity): NodeMatch {
  const match = matchNodeByProviderId(vm, node);
  if (match !== "unknown" || vm.providerId === "") return match;
  return node.systemUuid.toLowerCase() === systemUuidOf(vm.providerId) ? "same" : "unknown";
}
