import type { NodeIdentity, NodeMatch, VmIdentity } from "@millwright/core";
import { isSameName } from "./vm/names.ts";

/** What cloud-provider-azure writes into Nodes of single VMs, those of flexible scale sets among them (`pkg/provider/azure_standard.go`, `GetInstanceIDByNodeName`). */
const ofVm =
  /^azure:\/\/\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Compute\/virtualMachines\/([^/]+)$/i;
/** Instances of uniform scale sets (`pkg/provider/azure_vmss.go`). */
const ofUniformSet =
  /^azure:\/\/\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Compute\/virtualMachineScaleSets\/[^/]+\/virtualMachines\/[^/]+$/i;
const ofMachine = /^azure:\/\/\/[^/]+\/([^/]+)$/;

/**
 * Whether a Node is that of a VM. Machines have `azure:///<location>/<vm>`, Nodes the resource id: both name the VM, without regard to case. The driver makes no instances of uniform scale sets. A VM
 * whose id is not stored yet has the name of its machine, so that a Node of another VM is recognized.
 */
export function matchNode(
  { providerId, machineName }: Pick<VmIdentity, "providerId" | "machineName">,
  node: Pick<NodeIdentity, "providerId">,
): NodeMatch {
  if (ofUniformSet.test(node.providerId)) return "different";
  const [, found] = ofVm.exec(node.providerId) ?? ofMachine.exec(node.providerId) ?? [];
  if (found === undefined) return "unknown";
  if (providerId === "") return isSameName(found, machineName) ? "unknown" : "different";
  const [, name] = ofMachine.exec(providerId) ?? [];
  if (name === undefined) return "unknown";
  return isSameName(found, name) ? "same" : "different";
}

/** The same for a driver in a process of its own, where instances of uniform scale sets are unknown instead of different. */
export const providerIdTemplates: readonly string[] = [
  "azure:///{_}/{name}",
  "azure:///subscriptions/{_}/resourceGroups/{_}/providers/Microsoft.Compute/virtualMachines/{name}",
];
