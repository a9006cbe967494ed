import {
  type Machine,
  nodeConditionTypes,
  phaseOf,
  preservedMessages,
  preservedReasons,
  preserveValues,
} from "@millwright/core";
import type { Node } from "./node-objects.ts";
import { conditionOf, type NodeConditionState } from "./node-condition.ts";
import { isToBePreserved, preserveAnnotationsOf, type PreserveValue } from "./preserve-value.ts";

/** Progress of the drain of a preserved machine's node. `none`: the machine is not Failed, its pods stay. */
export type PreservationDrain = "none" | "draining" | "failing" | "drained";

/** The condition of a preserved machine's node. `expiry` as it is in the machine's status. */
export function preservedState(drain: PreservationDrain, value: PreserveValue, expiry: string): NodeConditionState {
  const until = preservedMessages.until(expiry);
  const message =
    drain === "drained"
      ? `${preservedMessages.drained} ${until}`
      : drain === "failing"
        ? `${preservedMessages.notDrained} ${until}`
        : until;
  return {
    type: nodeConditionTypes.preserved,
    status: drain === "failing" ? "False" : "True",
    reason: value === preserveValues.autoPreserved ? preservedReasons.byController : preservedReasons.byUser,
    message,
  };
}

/** The condition after the preservation has ended. */
export const stoppedState: NodeConditionState = {
  type: nodeConditionTypes.preserved,
  status: "False",
  reason: preservedReasons.stopped,
  message: "",
};

/** Whether the condition reports a completed drain of a current preservation. MCM looks for the same text. */
export function isDrainedForPreservation(node: Node | undefined): boolean {
  const { status, message = "" } = conditionOf(node, nodeConditionTypes.preserved) ?? {};
  return status === "True" && message.includes(preservedMessages.drained);
}

/** Whether the condition reports a preservation that has not ended. */
export function isMarkedPreserved(node: Node | undefined): boolean {
  const reason = conditionOf(node, nodeConditionTypes.preserved)?.reason;
  return reason === preservedReasons.byUser || reason === preservedReasons.byController;
}

/** Whether the node of a Failed machine is being drained for its preservation, or must be. */
export const isPreservationDrainDue = (machine: Machine, node: Node | undefined): boolean =>
  phaseOf(machine) === "Failed" &&
  isToBePreserved(preserveAnnotationsOf(machine, node)) &&
  !isDrainedForPreservation(node);
