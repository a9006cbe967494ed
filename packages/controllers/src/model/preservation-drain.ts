import { type Machine, phaseOf } from "@millwright/core";
import type { Node } from "./node-objects.ts";
import { isToBePreserved, preserveAnnotationsOf } from "./preserve-value.ts";
import { isDrainedForPreservation } from "./preserved-condition.ts";

/** Whether the node of a Failed machine is being drained for its preservation, or must be. */
export const isPreservationDrainDue = (machine: Machine, node: Node | undefined): boolean =>
  phaseOf(machine) === "Failed" &&
  isToBePreserved(preserveAnnotationsOf(machine, node)) &&
  !isDrainedForPreservation(node);
