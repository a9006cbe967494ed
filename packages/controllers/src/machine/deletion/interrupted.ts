import {
  deletionEvents,
  deletionStages,
  type DeletionStage,
  eventsText,
  isReported,
  machineEventReasons,
  readOperation,
} from "@millwright/core/machine-api";
import { isApiError, isConflict, isUnanswered, messageOf, refusalOf } from "@millwright/kube";
import { refusalText } from "../../cluster/refused-writes.ts";
import type { MachineAction, MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusAt } from "./decide-deletion.ts";
import { vmEndOf } from "./leftover-resources.ts";
import { statusOf } from "../../model/status-change.ts";
import { markedStage } from "../../model/phase.ts";

const positionOf = (stage: DeletionStage): number => deletionStages.findIndex(({ name }) => name === stage);

/**
 * The stage to repeat: the stored one, or the drain when this reconcile reached it; the status must not skip the stages after it. A VM that was deleted meanwhile is stored: the driver is not asked
 * again, also after a restart.
 */
function stageToRepeat(snapshot: MachineSnapshot, { status }: MachineDecision): DeletionStage {
  const stored = markedStage(snapshot);
  if ((stored === "DeleteVm" || stored === undefined) && vmEndOf(snapshot) !== undefined) return "DeleteNode";
  const marked = stored ?? "GetVmStatus";
  const reached = readOperation(status).stage ?? marked;
  const isBeforeDrain = positionOf(marked) < positionOf("Drain") && positionOf(reached) >= positionOf("Drain");
  return isBeforeDrain ? "Drain" : marked;
}

/** Of a cluster that does not come back, only a forced deletion goes on without the Node. */
const targetUnreachable =
  "the API server of the nodes is unreachable; if it is gone for good, set the label force-deletion=True";

/** Actions that need the API server of the nodes. */
const onNodes: ReadonlySet<MachineAction["kind"]> = new Set([
  "PatchNode",
  "PatchNodeStatus",
  "DeleteNode",
  "ReadNode",
  "ReadPods",
]);

/**
 * Why a reconcile of a deletion failed, for its status; `undefined` for what is not reported: a conflict is resolved by the next reconcile, and without the API server of the machines nothing can be
 * written.
 *
 * @param action the one that failed; absent when the status could not be written
 */
export function interruption(error: unknown, action: MachineAction | undefined): string | undefined {
  if (!isApiError(error) || isConflict(error)) return undefined;
  const refusal = refusalOf(error);
  if (refusal !== undefined) return refusalText(refusal);
  if (!isUnanswered(error)) return messageOf(error);
  return action !== undefined && onNodes.has(action.kind) ? targetUnreachable : undefined;
}

/**
 * The decision after a reconcile of the deletion whose writes failed: the status contains why, in MCM's words where it has some, and the stage is repeated. `why` is
 * the message of the API server.
 *
 * @param isRefused whether the API server refuses the write. Default: it failed otherwise
 */
export function interruptedDeletion(
  snapshot: MachineSnapshot,
  decision: MachineDecision,
  why: string,
  now: Date,
  isRefused = false,
): MachineDecision {
  const stage = stageToRepeat(snapshot, decision);
  const text = stage === "Drain" ? deletionEvents.drainFailed(why) : deletionEvents.stageFailed(why);
  const failure = isRefused ? ({ reason: "WriteRefused", text } as const) : text;
  const vmEnd = stage === "DeleteNode" ? vmEndOf(snapshot) : undefined;
  const happened = vmEnd === undefined ? failure : [vmEnd, failure];
  const status = statusAt(snapshot, stage, happened, "Failed", now);
  const message = `${eventsText(happened)}; stage ${stage}`;
  return {
    actions: [],
    status,
    because: isReported(statusOf(snapshot.machine), happened, stage)
      ? []
      : [{ type: "Warning", reason: machineEventReasons.deletionBlocked, message }],
  };
}
