import {
  annotationKeys,
  type inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  type Machine,
  type MachinePhase,
  nodeConditionTypes,
  phaseOf,
  updateResults,
} from "@millwright/core/machine-api";
import type { Node } from "./node-objects.ts";
import { conditionOf } from "./node-condition.ts";

/** The state of a node's update, from its condition. */
export type InPlaceReason = keyof typeof inPlaceUpdateMessages;

/** Phases that wait for the report of the agent; the second for a late one. */
export const isUnderUpdate = (phase: MachinePhase | undefined): boolean =>
  phase === "InPlaceUpdating" || phase === "InPlaceUpdateFailed";

/** The reason of the node's condition, including ones unknown to this version; `undefined` without condition. */
export const inPlaceReasonOf = (node: Node | undefined): string | undefined =>
  conditionOf(node, nodeConditionTypes.inPlaceUpdate)?.reason;

/** The agent's report is untrusted text: at most this many characters are copied. */
const LONGEST_REASON = 1_000;

/** Why the update of a node failed, as its agent reported it; may be empty. */
export const updateFailureOf = (node: Node | undefined): string =>
  (node?.metadata.annotations?.[annotationKeys.updateFailedReason] ?? "").slice(0, LONGEST_REASON);

/** Whether the node must be drained for an update: it is selected, and the machine is neither new, nor Failed, nor being updated. */
export function isInPlaceDrainDue(machine: Machine, node: Node | undefined): boolean {
  const phase = phaseOf(machine);
  return (
    inPlaceReasonOf(node) === inPlaceUpdateReasons.selectedForUpdate && (phase === "Running" || phase === "Unknown")
  );
}

/** The next reason after a report of the agent. Reports count once the node was handed to the agent, and success is final. */
function reported(reason: InPlaceReason, result: string | undefined): InPlaceReason | undefined {
  if (result === updateResults.successful) return inPlaceUpdateReasons.updateSuccessful;
  if (result === updateResults.failed && reason !== inPlaceUpdateReasons.updateFailed)
    return inPlaceUpdateReasons.updateFailed;
  return undefined;
}

/**
 * The next reason for a node, by its labels and its machine's phase; `undefined` while nothing changes. A report counts only after the
 * drain: an early one, or one of an earlier update, would mark a node as updated that was not (unlike in MCM, `machine_util.go` inPlaceUpdate).
 */
export function nextReason(node: Node, phase: MachinePhase | undefined): InPlaceReason | undefined {
  const labels = node.metadata.labels ?? {};
  const result = labels[labelKeys.updateResult];
  const isCandidate = labels[labelKeys.candidateForUpdate] !== undefined;
  const isSelected = labels[labelKeys.selectedForUpdate] !== undefined;
  const { candidateForUpdate, selectedForUpdate, drainSuccessful, readyForUpdate, updateSuccessful, updateFailed } =
    inPlaceUpdateReasons;
  const reason = inPlaceReasonOf(node);
  switch (reason) {
    case undefined:
      return isCandidate ? candidateForUpdate : undefined;
    case updateSuccessful:
      return isCandidate && result === undefined ? candidateForUpdate : undefined;
    case candidateForUpdate:
      return isCandidate && isSelected ? selectedForUpdate : undefined;
    case selectedForUpdate:
      return isUnderUpdate(phase) ? drainSuccessful : undefined;
    case drainSuccessful:
    case readyForUpdate:
    case updateFailed: {
      // A Failed machine is about to be replaced; should it recover, the report still counts.
      const next = phase === "Failed" ? undefined : reported(reason, result);
      return next ?? (reason === drainSuccessful ? readyForUpdate : undefined);
    }
    default:
      return undefined;
  }
}
