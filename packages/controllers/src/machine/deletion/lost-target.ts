import { deletionEvents, labelKeys, machineEventReasons } from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import { isForceDeletion } from "../../model/force-deletion.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { vmEndOf } from "./leftover-resources.ts";

/** Whether a user forces the deletion while the API server of the nodes has been unreachable for long: nothing more is expected of it, which may be gone for good. */
export const isTargetGivenUp = ({ machine, isTargetLost = false }: MachineSnapshot): boolean =>
  isTargetLost && isForceDeletion(machine);

/** How the stage of the Node ends without it: the VM is deleted, and the Node, if the target cluster is not gone for good, is not deleted. */
export function skipNodeDeletion(
  snapshot: MachineSnapshot,
): { readonly next: "RemoveFinalizer"; readonly happened: string; readonly because: readonly Reason[] } | undefined {
  const { machine, node, otherNodes = [] } = snapshot;
  const own = node?.metadata.name ?? machine.metadata.labels?.[labelKeys.node] ?? "";
  const name = [own, ...otherNodes.map((other) => other.node.metadata.name)].join(", ");
  if (name === "" || !isTargetGivenUp(snapshot) || vmEndOf(snapshot) === undefined) return undefined;
  const message = deletionEvents.nodeNotDeleted(name);
  return {
    next: "RemoveFinalizer",
    happened: message,
    because: [{ type: "Warning", reason: machineEventReasons.nodeNotDeleted, message }],
  };
}
