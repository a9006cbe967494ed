import { isFailed, isPreserved } from "../model/phase.ts";
import type { Machine } from "@millwright/core/machine-api";
import { isToBePreserved, preserveAnnotationsOf } from "../model/preserve-value.ts";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";

/**
 * Whether a Failed machine is to be replaced. Its preserve expiry decides, if it is set; before, the preserve annotations do, the node's before the
 * machine's, as in the machine controller. MCM replaces a machine without a node regardless of its own annotation.
 */
export function isForReplacement(machine: Machine, nodes: NodesOfMachines, now: Date): boolean {
  if (!isFailed(machine)) return false;
  if (machine.status?.currentStatus?.preserveExpiryTime != null) return !isPreserved(machine, now);
  return !isToBePreserved(preserveAnnotationsOf(machine, nodes.get(machine.metadata.name)));
}
