import { isFailed, isPreserved } from "../model/phase.ts";
import type { Machine } from "@millwright/core";
import { isToBePreserved, preserveAnnotationsOf } from "../model/preserve-value.ts";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";

/**
 * Whether a Failed machine is to be replaced. An expiry, once there, decides alone; before, the wish to preserve does, the node's before the
 * machine's, just as the machine controller will read it. MCM replaces a machine whose node is gone whatever its own annotation says.
 */
export function isForReplacement(machine: Machine, nodes: NodesOfMachines, now: Date): boolean {
  if (!isFailed(machine)) return false;
  if (machine.status?.currentStatus?.preserveExpiryTime != null) return !isPreserved(machine, now);
  return !isToBePreserved(preserveAnnotationsOf(machine, nodes.get(machine.metadata.name)));
}
