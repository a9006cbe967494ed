import {
  annotationKeys,
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  nodeConditionTypes,
  taintEffects,
  taintKeys,
  updateResults,
} from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import type { NodeConditionState } from "../../model/node-condition.ts";
import { type DesiredNodeMarks, noChange } from "../state/node-patch.ts";
import { readUpdateNote, type UpdateNote, writeUpdateNote, isBeforeDrain, type UpdateState } from "./update-state.ts";

/** The desired marks of a node during an in-place update, and the condition to set, if any. */
export interface InPlaceNodeMarks {
  readonly marks: DesiredNodeMarks;
  readonly condition?: NodeConditionState;
}

const none: InPlaceNodeMarks = { marks: noChange };

const noted = (note: UpdateNote | null): Readonly<Record<string, string | null>> => ({
  [annotationKeys.inPlaceUpdate]: note === null ? null : writeUpdateNote(note),
});

/** Removes all marks of an update, also its cordon, so that pods can be scheduled again. */
function clean(node: Node, keepsCandidate: boolean): InPlaceNodeMarks {
  const { labels = {}, annotations = {} } = node.metadata;
  const note = readUpdateNote(node);
  const wasSelected = labels[labelKeys.selectedForUpdate] !== undefined || labels[labelKeys.updateResult] !== undefined;
  // Without a mark of the update the cordon is not ours. Nodes that MCM marked carry no note: it removes any cordon.
  const isOurCordon = note === undefined ? wasSelected : note.schedulable && (wasSelected || note.revoked);
  const isUpdated = labels[labelKeys.updateResult] === updateResults.successful;
  const marks: DesiredNodeMarks = {
    ...noChange,
    labels: {
      ...(keepsCandidate ? {} : { [labelKeys.candidateForUpdate]: null }),
      [labelKeys.selectedForUpdate]: null,
      [labelKeys.updateResult]: null,
    },
    annotations: {
      ...noted(null),
      // Written by the agent together with its result.
      ...(wasSelected && annotations[annotationKeys.updateFailedReason] !== undefined
        ? { [annotationKeys.updateFailedReason]: null }
        : {}),
    },
    isUncordoned: isOurCordon,
    // Its components restart; the controller that removes this taint from new nodes removes it here, too.
    addTaints: isUpdated ? [{ key: taintKeys.criticalComponentsNotReady, effect: taintEffects.noSchedule }] : [],
  };
  return { marks };
}

/** Cancels a drain, in steps that can be continued after a restart: selection, condition, cordon. */
function revoke(node: Node, target: string, isCandidate: boolean): InPlaceNodeMarks {
  const note = readUpdateNote(node) ?? { set: target, schedulable: true, revoked: true };
  const marks: DesiredNodeMarks = {
    ...noChange,
    labels: {
      ...(isCandidate ? {} : { [labelKeys.candidateForUpdate]: null }),
      [labelKeys.selectedForUpdate]: null,
    },
    annotations: noted({ ...note, revoked: true }),
  };
  if (isBeforeDrain(node)) return { marks };
  const reason = inPlaceUpdateReasons.candidateForUpdate;
  const type = nodeConditionTypes.inPlaceUpdate;
  return { marks, condition: { type, status: "True", reason, message: inPlaceUpdateMessages[reason] } };
}

/** The marks of a node that is to be updated in place, in a set of an old template. */
export function desiredMarksForOldSet(
  node: Node,
  state: UpdateState,
  isChosen: boolean,
  target: string,
): InPlaceNodeMarks {
  const candidate = { [labelKeys.candidateForUpdate]: "true" };
  const found = readUpdateNote(node);
  switch (state) {
    case "gone":
    case "without node":
    case "broken":
      return none;
    case "settling":
    case "outdated":
      return clean(node, true);
    case "revoked":
      return revoke(node, target, true);
    case "waiting":
    case "selected": {
      if (!isBeforeDrain(node)) return { marks: { ...noChange, labels: candidate } };
      const isFree = node.spec?.unschedulable !== true;
      const isReturned = found?.revoked === true && found.schedulable;
      const note = { set: target, schedulable: isFree || isReturned, revoked: false };
      const labels = isChosen ? { ...candidate, [labelKeys.selectedForUpdate]: "true" } : candidate;
      return { marks: { ...noChange, labels, annotations: noted(note), isUncordoned: isReturned } };
    }
    case "updating":
    case "failed":
    case "updated":
      return { marks: { ...noChange, labels: candidate } };
  }
}

/** The marks of a node that needs no update in place: in the set of the current template, or of a deployment with another strategy. */
export function desiredMarksForReleased(node: Node, state: UpdateState): InPlaceNodeMarks {
  switch (state) {
    case "gone":
    case "without node":
    case "broken":
    // An update that the agent started is completed: its result or the timeout ends it.
    case "updating":
      return none;
    case "selected":
    case "revoked":
      return revoke(node, "", false);
    case "waiting":
    case "failed":
    case "updated":
    case "outdated":
    case "settling":
      return clean(node, false);
  }
}
