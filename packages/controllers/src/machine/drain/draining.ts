import type { Machine } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import { markedStage } from "../../model/marked-stage.ts";
import { isInPlaceDrainDue } from "../../model/in-place-state.ts";
import { isDeleting } from "../../model/phase.ts";
import { isPreservationDrainDue } from "../../model/preservation-drain.ts";

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
