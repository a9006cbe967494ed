import {
  detailsOf,
  drainResult,
  type DeletionStage,
  finalizers,
  isReported,
  machineEventReasons,
  keptByFinalizers,
  machineDeleted,
  type MachineStatus,
  type OperationState,
  eventsText,
  type OperationEvents,
  phaseOf,
  readOperation,
} from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { deleteNode, deleteVm, deleteVolumeAttachments, getVmStatus, removeFinalizer, type Stage } from "./stages.ts";
import { drain } from "./drain.ts";
import { recordRejection } from "../creation/record-rejection.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { isDeletionHeld } from "../../model/held-deletion.ts";
import { markedStage } from "../../model/phase.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { deletionStart } from "../../model/timeouts.ts";
import { recordIds } from "../state/vm-ids.ts";

/** The status with the driver's state of the last deletion call; a result without one clears it (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow). */
function withLastKnownState({ machine, operation }: MachineSnapshot): MachineStatus {
  if (operation?.kind !== "delete" || (operation.state !== "done" && operation.state !== "failed"))
    return statusOf(machine);
  const { lastKnownState: _, ...rest } = statusOf(machine);
  const lastKnownState = operation.state === "done" ? operation.result.lastKnownState : operation.lastKnownState;
  return lastKnownState === undefined ? rest : { ...rest, lastKnownState };
}

/**
 * The status of a deletion that continues with a stage. It is kept when the stage
 * is the same and there is no new result.
 */
export function statusAt(
  snapshot: MachineSnapshot,
  stage: DeletionStage,
  happened: OperationEvents | undefined,
  state: OperationState,
  now: Date,
): MachineStatus {
  const { currentStatus, ...rest } = withLastKnownState(snapshot);
  const { preserveExpiryTime: _, ...kept } = currentStatus ?? {};
  const status: MachineStatus = { ...rest, ...(currentStatus === undefined ? {} : { currentStatus: kept }) };
  if (happened === undefined && stage === markedStage(snapshot)) return status;
  const operation = { description: happened ?? "", stage, state, type: "Delete" } as const;
  return withPhase(withOperation(status, operation, now), "Terminating", now);
}

/** The stages of the deletion flow, in order. Each stage returns the next one. */
const stages: Readonly<Record<DeletionStage, Stage>> = {
  GetVmStatus: getVmStatus,
  Drain: drain,
  DeleteVolumeAttachments: deleteVolumeAttachments,
  DeleteVm: deleteVm,
  DeleteNode: deleteNode,
  RemoveFinalizer: removeFinalizer,
};

/**
 * One event for each new result; an entered stage without a result is only in the status, and so is a completed drain
 * that was not forced, until the final event repeats it.
 */
function reasonsOf(
  snapshot: MachineSnapshot,
  stage: DeletionStage,
  happened: OperationEvents | undefined,
  state: OperationState,
): readonly Reason[] {
  if (
    happened === undefined ||
    drainResult(detailsOf(happened) ?? {}) !== undefined ||
    isReported(statusOf(snapshot.machine), happened, stage)
  )
    return [];
  const message = `${eventsText(happened)}; stage ${stage}`;
  return [
    state === "Failed"
      ? { type: "Warning", reason: machineEventReasons.deletionBlocked, message }
      : { type: "Normal", reason: machineEventReasons.deleting, message },
  ];
}

/** The final event: it outlives the machine, and contains the duration when a node was drained or there is no target cluster. */
function finalEvent(snapshot: MachineSnapshot, completed: readonly string[], now: Date): readonly Reason[] {
  if (completed.length === 0) return [];
  const { machine, node, hasTarget } = snapshot;
  const drained = drainResult(readOperation(machine.status));
  const isDrained = drained !== undefined;
  const events = isDrained && !completed.includes(drained) ? [drained, ...completed] : completed;
  // The cloud controller manager may have deleted the node meanwhile.
  const hadNode = isDrained || node !== undefined;
  const tookMs = hadNode || !hasTarget ? now.getTime() - deletionStart(snapshot) : undefined;
  return [{ type: "Normal", reason: machineEventReasons.deleting, message: machineDeleted(events, tookMs) }];
}

/** A Machine that we have released exists until other finalizers are gone, which their owners remove: names them, once. */
function reportOthers(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { finalizers: others = [] } = snapshot.machine.metadata;
  if (others.length === 0) return nothing;
  const stage = markedStage(snapshot);
  const description = keptByFinalizers(others.toSorted());
  const operation = {
    description,
    ...(stage === undefined ? {} : { stage }),
    state: "Processing",
    type: "Delete",
  } as const;
  return {
    ...nothing,
    status: withPhase(withOperation(statusOf(snapshot.machine), operation, now), "Terminating", now),
  };
}

/**
 * Deletes a machine, stage by stage: VM status, drain, volume attachments, VM, node, finalizer. Stages follow each other within one reconcile as long as
 * there is nothing to wait for; MCM requeues after five seconds for each.
 */
export function decideDeletion(snapshot: MachineSnapshot, now: Date): MachineDecision {
  if (snapshot.machine.metadata.finalizers?.includes(finalizers.machine) !== true) return reportOthers(snapshot, now);
  return beforeStages(snapshot) ?? runStages(snapshot, now);
}

/** What a machine does before any stage of its deletion: what is known of its creation is stored. */
export function beforeStages(snapshot: MachineSnapshot): MachineDecision | undefined {
  if (snapshot.operation?.kind !== "create") return undefined;
  const rejection = recordRejection(snapshot);
  return finishCreation(snapshot) ?? (rejection.length > 0 ? { actions: rejection, because: [] } : undefined);
}

/** Whether nothing of the deletion is stored yet that the next reconcile could not find out again: a drain that was forced, or of an unhealthy machine, is stored before its VM is deleted, and so is that a deletion which was held has begun. */
const isFirstStatus = (snapshot: MachineSnapshot, stage: DeletionStage, status: MachineStatus): boolean =>
  markedStage(snapshot) === undefined &&
  !isDeletionHeld(snapshot.machine) &&
  (stage === "Drain" || (phaseOf(snapshot.machine) === "Running" && readOperation(status).reason === "Drained"));

/** Runs stages from the marked one on, until one has to wait or the machine is deleted. */
function runStages(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const actions: MachineAction[] = [];
  let stage = markedStage(snapshot) ?? "GetVmStatus";
  let happened: OperationEvents | undefined;
  const completed: string[] = [];
  const earlier: Reason[] = [];
  for (;;) {
    const result = stages[stage](snapshot, now);
    actions.push(...(result.actions ?? []));
    // Removing the finalizer deletes the object: there is no status left to write, only the event.
    if (result.next === "deleted") return { actions, because: [...earlier, ...finalEvent(snapshot, completed, now)] };
    if (result.happened !== undefined) completed.push(eventsText(result.happened));
    happened = result.happened ?? happened;
    if (result.next === "stay") {
      const state = result.state ?? "Processing";
      const nextStage = result.resumeAt ?? stage;
      const status = statusAt(snapshot, nextStage, happened, state, now);
      const because = result.because ?? reasonsOf(snapshot, nextStage, happened, state);
      return {
        actions,
        status,
        // The first status of a deletion, which the next one replaces at once.
        ...(result.isBrief === true && isFirstStatus(snapshot, stage, status) ? { isStatusBrief: true } : {}),
        because: [...earlier, ...because],
        ...(result.requeueAfterMs === undefined ? {} : { requeueAfterMs: result.requeueAfterMs }),
      };
    }
    earlier.push(...(result.because ?? []));
    stage = result.next;
  }
}

/** What a terminating machine does first while its VM is being created: the VM must be known before it can be deleted, or kept. `undefined` when none is. */
export function finishCreation(snapshot: MachineSnapshot): MachineDecision | undefined {
  const { operation } = snapshot;
  if (operation?.kind !== "create") return undefined;
  if (operation.state === "running") return nothing;
  return operation.state === "done" ? { actions: recordIds(snapshot, operation.result), because: [] } : undefined;
}
