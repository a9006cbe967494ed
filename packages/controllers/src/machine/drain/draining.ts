import type { Machine } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { isInPlaceDrainDue } from "../../model/in-place-state.ts";
import { isDeleting, markedStage } from "../../model/phase.ts";
import { isPreservationDrainDue } from "../../model/preserve-value.ts";

/** Whether a deletion has not completed its drain. */
export function isBeforeVm(machine: Machine): boolean {
  const stage = markedStage({ machine }) ?? "GetVmStatus";
  return stage === "GetVmStatus" || stage === "Drain";
}

/** Whether the node of a machine is being drained, for any reason: only then the inputs of a drain are read. */
export const isDraining = (machine: Machine, node: Node | undefined): boolean =>
  isDeleting(machine) ? isBeforeVm(machine) : isInPlaceDrainDue(machine, node) || isPreservationDrainDue(machine, node);

/** Whether pods and attachments of the node matter to the machine: during a drain, and during the whole deletion. */
export const isLeaving = (machine: Machine, node: Node | undefined): boolean =>
  isDeleting(machine) || isDraining(machine, node);
