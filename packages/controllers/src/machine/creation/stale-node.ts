import type { Machine } from "@millwright/core";
import { labelKeys } from "@millwright/core";
import type { Node } from "../../cluster/node-objects.ts";

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/**
 * Whether the node that has the name of a machine's VM is that of something else, so that the VM must not join under it (machine-controller.md, 4.2).
 * A VM may have joined before the driver answered: a node with the VM's id, with the label of the machine or younger than the machine is its own, and so is one
 * that bears the machine's name, which is the name of the VM on some clouds.
 */
export function isStaleNode(node: Node, machine: Machine, providerId: string): boolean {
  const { name, labels, creationTimestamp } = node.metadata;
  if (name === machine.metadata.name) return false;
  const itsVm = node.spec?.providerID ?? "";
  if (itsVm !== "") return itsVm !== providerId;
  const itsMachine = labels?.[labelKeys.machineName] ?? "";
  if (itsMachine !== "") return itsMachine !== machine.metadata.name;
  return timeOf(creationTimestamp) < timeOf(machine.metadata.creationTimestamp);
}
