import { inPlaceUpdateReasons as reasons, labelKeys, type Machine, phaseOf } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import { inPlaceReasonOf, isUnderUpdate } from "../../model/in-place-state.ts";
import { isDeleting } from "../../model/phase.ts";
import { readUpdateNote } from "./update-note.ts";

/**
 * Where a machine is on its way through an update in place, as its deployment sees it (MCM, `pkg/controller/deployment_inplace.go` rolloutInPlace):
 *
 * - `gone`: Failed or on its way out; its set replaces it
 * - `without node`: has no node yet, or no more
 * - `waiting`: nothing has begun
 * - `selected`: may be drained, or is being drained
 * - `revoked`: was selected, is no more, and its drain does not know yet
 * - `updating`: in the hands of the agent
 * - `failed`: the agent failed or said nothing for too long; a later success still counts
 * - `updated`: the agent is done, for the template that is wanted
 * - `outdated`: the agent is done, for a template that is not wanted any more
 * - `settling`: belongs to its new set; marks of the hand-over are still there
 */
export type UpdateState =
  | "gone"
  | "without node"
  | "waiting"
  | "selected"
  | "revoked"
  | "updating"
  | "failed"
  | "updated"
  | "outdated"
  | "settling";

const withAgent: ReadonlySet<string | undefined> = new Set([reasons.drainSuccessful, reasons.readyForUpdate]);

const sinceDrain: ReadonlySet<string | undefined> = new Set([
  reasons.selectedForUpdate,
  ...withAgent,
  reasons.updateFailed,
]);

/** Whether the drain of the update has not begun, so that a cordon is somebody else's. */
export const isBeforeDrain = (node: Node): boolean => !sinceDrain.has(inPlaceReasonOf(node));

/** The state of a machine; `target` is the name of the set of the template that is wanted. */
export function updateStateOf(machine: Machine, node: Node | undefined, target: string | undefined): UpdateState {
  const phase = phaseOf(machine);
  if (isDeleting(machine) || phase === "Failed") return "gone";
  if (machine.metadata.labels?.[labelKeys.updateResult] !== undefined) return "settling";
  if (node === undefined || node.metadata.deletionTimestamp != null) return "without node";
  const reason = inPlaceReasonOf(node);
  const { [labelKeys.updateResult]: result, [labelKeys.selectedForUpdate]: selected } = node.metadata.labels ?? {};
  if (reason === reasons.updateSuccessful && result !== undefined && phase !== "InPlaceUpdating") {
    const note = readUpdateNote(node);
    // A node that MCM selected says not for what.
    return note === undefined || note.set === target ? "updated" : "outdated";
  }
  if (phase === "InPlaceUpdateFailed" || reason === reasons.updateFailed) return "failed";
  if (isUnderUpdate(phase) || withAgent.has(reason)) return "updating";
  if (selected !== undefined) return "selected";
  return reason === reasons.selectedForUpdate ? "revoked" : "waiting";
}
