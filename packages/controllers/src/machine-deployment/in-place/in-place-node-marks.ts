import {
  annotationKeys,
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  nodeConditionTypes,
  taintEffects,
  taintKeys,
  updateResults,
} from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { NodeConditionState } from "../../model/node-condition.ts";
import { type DesiredNodeMarks, noChange } from "../state/node-patch.ts";
import { readUpdateNote, type UpdateNote, writeUpdateNote } from "./update-note.ts";
import { isBeforeDrain, type UpdateState } from "./update-state.ts";

/** What an update in place wants of a node: its marks, and what its condition is to say, if that is ours to say. */
export interface InPlaceNodeMarks {
  readonly marks: DesiredNodeMarks;
  readonly condition?: NodeConditionState;
}

const none: InPlaceNodeMarks = { marks: noChange };

const noted = (note: UpdateNote | null): Readonly<Record<string, string | null>> => ({
  [annotationKeys.inPlaceUpdate]: note === null ? null : writeUpdateNote(note),
});

/** Takes away every mark of an update, also a cordon if that was the update's, so that pods come back. */
function clean(node: Node, keepsCandidate: boolean): InPlaceNodeMarks {
  const { labels = {}, annotations = {} } = node.metadata;
  const note = readUpdateNote(node);
  const wasSelected = labels[labelKeys.selectedForUpdate] !== undefined || labels[labelKeys.updateResult] !== undefined;
  // Without a mark of the update a cordon is somebody else's. MCM's nodes carry no note: it takes any cordon for its own.
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
      // Told by the agent together with its result.
      ...(wasSelected && annotations[annotationKeys.updateFailedReason] !== undefined
        ? { [annotationKeys.updateFailedReason]: null }
        : {}),
    },
    isUncordoned: isOurCordon,
    // Its components start anew; who takes this taint away from new nodes takes it away here.
    addTaints: isUpdated ? [{ key: taintKeys.criticalComponentsNotReady, effect: taintEffects.noSchedule }] : [],
  };
  return { marks };
}

/** Ends a drain that nobody wants any more, in steps that a restart finds as they were left: selection, condition, cordon. */
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

/** A node that is to be updated in place, in a set of an old template. */
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

/** A node that is not to be updated in place: in the set of the template that is wanted, or of a deployment that follows another strategy. */
export function desiredMarksForReleased(node: Node, state: UpdateState): InPlaceNodeMarks {
  switch (state) {
    case "gone":
    case "without node":
    // What the agent has begun it ends; its report or its silence is the way out.
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
