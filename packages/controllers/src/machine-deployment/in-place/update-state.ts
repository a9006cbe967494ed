import { isRecord } from "@millwright/base";
import {
  inPlaceUpdateReasons as reasons,
  labelKeys,
  type Machine,
  phaseOf,
  annotationKeys,
} from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { inPlaceReasonOf, isUnderUpdate } from "../../model/in-place-state.ts";
import { isAvailable, isDeleting } from "../../model/phase.ts";
import { parseJson } from "@millwright/kube";

/** The in-place update that a node waits for or is in, as noted on the node. */
export interface UpdateNote {
  /** Name of the set that the update leads to: a node that was updated for another template is not up to date. */
  readonly set: string;
  /** Whether the node was schedulable before its drain: the cordon of a user is kept after the update. */
  readonly schedulable: boolean;
  /** The node is no longer selected: its drain is to be undone. */
  readonly revoked: boolean;
}

/** The note on a node; `undefined` without a valid one: MCM writes none. */
export function readUpdateNote(node: Node): UpdateNote | undefined {
  const text = node.metadata.annotations?.[annotationKeys.inPlaceUpdate];
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    if (!isRecord(value) || typeof value["set"] !== "string") return undefined;
    return { set: value["set"], schedulable: value["schedulable"] !== false, revoked: value["revoked"] === true };
  } catch {
    return undefined;
  }
}

/** The text of a note. */
export const writeUpdateNote = ({ set, schedulable, revoked }: UpdateNote): string =>
  JSON.stringify({ set, schedulable, ...(revoked ? { revoked } : {}) });

/**
 * The state of a machine in an in-place update (MCM, `pkg/controller/deployment_inplace.go` rolloutInPlace):
 *
 * - `gone`: Failed or terminating; its set replaces it
 * - `without node`: serves, but its node is not known
 * - `broken`: does not serve, and cannot be updated: it has no node, or no VM can be made from its class
 * - `waiting`: not started
 * - `selected`: may be drained, or is being drained
 * - `revoked`: was selected, and its drain has to be canceled
 * - `updating`: the agent is updating it
 * - `failed`: the agent failed or did not report in time; a later success still counts
 * - `updated`: the agent has completed the update to the current template
 * - `outdated`: the agent has completed an update to a template that is no longer current
 * - `settling`: belongs to its new set, with marks of the hand-over
 */
export type UpdateState =
  | "gone"
  | "without node"
  | "broken"
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

/** Whether the drain of the update has not started, so that a cordon is not ours. */
export const isBeforeDrain = (node: Node): boolean => !sinceDrain.has(inPlaceReasonOf(node));

/** The state of a machine; `target` is the name of the set of the current template. */
export function updateStateOf(machine: Machine, node: Node | undefined, target: string | undefined): UpdateState {
  const phase = phaseOf(machine);
  if (isDeleting(machine) || phase === "Failed") return "gone";
  if (machine.metadata.labels?.[labelKeys.updateResult] !== undefined) return "settling";
  if (phase === "CrashLoopBackOff") return "broken";
  if (node === undefined || node.metadata.deletionTimestamp != null)
    return isAvailable(machine) ? "without node" : "broken";
  const reason = inPlaceReasonOf(node);
  const { [labelKeys.updateResult]: result, [labelKeys.selectedForUpdate]: selected } = node.metadata.labels ?? {};
  if (reason === reasons.updateSuccessful && result !== undefined && phase !== "InPlaceUpdating") {
    const note = readUpdateNote(node);
    // A node that MCM selected does not name its template.
    return note === undefined || note.set === target ? "updated" : "outdated";
  }
  if (phase === "InPlaceUpdateFailed" || reason === reasons.updateFailed) return "failed";
  if (isUnderUpdate(phase) || withAgent.has(reason)) return "updating";
  if (selected !== undefined) return "selected";
  return reason === reasons.selectedForUpdate ? "revoked" : "waiting";
}
