import type { Machine } from "@millwright/core";
import type { Node } from "../../cluster/node-objects.ts";
import { markedStage } from "../deletion/marked-stage.ts";
import { isInPlaceDrainDue } from "../in-place/in-place-state.ts";
import { isDeleting } from "../phase.ts";
import { isPreservationDrainDue } from "../preservation/decide-preservation.ts";

/** Whether a deletion has not got past its drain. */
function isBeforeVm(machine: Machine): boolean {
  const stage = markedStage({ machine }) ?? "GetVmStatus";
  return stage === "GetVmStatus" || stage === "Drain";
}

/** Whether the node of a machine is being emptied, for whatever reason: only then is looked at what a drain looks at. */
export const isDraining = (machine: Machine, node: Node | undefined): boolean =>
  isDeleting(machine) ? isBeforeVm(machine) : isInPlaceDrainDue(machine, node) || isPreservationDrainDue(machine, node);

/** Whether pods and attachments of the node concern the machine: while the node is being emptied, and until a deletion has dealt with what is left on it. */
export const isLeaving = (machine: Machine, node: Node | undefined): boolean =>
  isDeleting(machine) || isDraining(machine, node);
