import type { MachineErrorCode } from "@millwright/core";
import { retryClassOf } from "@millwright/core/driver-host";
import {
  deletionEvents,
  eventsText,
  type FailureEvent,
  labelKeys,
  machineEventReasons,
  staleNode as staleNodeText,
  type Machine,
  finalizers,
  type DeletionStage,
  type OperationEvent,
  type OperationEvents,
  type OperationState,
  readOperation,
} from "@millwright/core/machine-api";
import { removeFinalizerPatch } from "@millwright/kube";
import { isWithoutRequest, readIntent } from "../../model/creation-intent.ts";
import type { FailedOperation, OperationKind } from "../../model/operation.ts";
import type { Node } from "../../model/node-objects.ts";
import { hasId } from "../../model/provisioning.ts";
import { deletionStart, drainTimeoutMs } from "../../model/timeouts.ts";
import { msUntilRetry } from "../../model/retry.ts";
import { canBeLabel, recordIds } from "../state/vm-ids.ts";
import { isForceDeletion } from "../../model/force-deletion.ts";
import { isUnreachable } from "../drain/force-drain.ts";
import { endedDeletion, type EndedOperation, foundNone, isKept, isOutdated } from "../state/vm-answers.ts";
import { type DeletionDoubt, doubtAboutEnd } from "./missing-vm.ts";
import { readNodeFirst, skippedDrain } from "./absent-node.ts";
import { hasUndrainedPods, heldBack } from "./unreachable-node.ts";
import type { ClassView } from "../../cluster/class-view.ts";
import { bounded } from "../creation/record-failure.ts";
import { classEvent } from "../creation/reject-machine.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import type { MachineAction } from "../state/decision.ts";
import { leftoverResources } from "./leftover-resources.ts";
import { isTargetGivenUp, skipNodeDeletion } from "./lost-target.ts";
import { withAttempts } from "../../model/failed-attempts.ts";
import { isSameFailure } from "../../model/same-failure.ts";
import { markedStage } from "../../model/phase.ts";
import type { Reason } from "../../model/decision.ts";

/** The result of a stage of the deletion flow. */
export type StageResult =
  /** Done; the next stage may start in the same reconcile. `happened` is written to the machine's last operation. */
  | {
      readonly next: DeletionStage;
      readonly happened?: OperationEvents;
      readonly actions?: readonly MachineAction[];
      /** Events about it. */
      readonly because?: readonly Reason[];
    }
  /** In progress, or blocked: the status contains why; events or `requeueAfterMs` continue it. */
  | {
      readonly next: "stay";
      /** The stage that the next reconcile continues with, an earlier one. Default: this one. */
      readonly resumeAt?: DeletionStage;
      readonly happened?: OperationEvents;
      readonly state?: OperationState;
      readonly actions?: readonly MachineAction[];
      readonly requeueAfterMs?: number;
      /** Whether the next reconcile follows at once, or within a second: a deletion that begins is written by that one. Default: false. */
      readonly isBrief?: boolean;
      /** Events. Default: one about `happened`, if it is new in the status. */
      readonly because?: readonly Reason[];
    }
  /** The last stage: the object is deleted with its finalizer. */
  | { readonly next: "deleted"; readonly actions: readonly MachineAction[] };

/** A stage is a pure function of the snapshot. */
export type Stage = (snapshot: MachineSnapshot, now: Date) => StageResult;

/**
 * Whether a driver that rejects the class cannot delete the machine at all: no id of a VM is known to it. A user has to fix the class or its
 * Secret. The label releases the machine too, which no message recommends: a VM could be orphaned.
 */
const isBeyondDriver = ({ spec }: Machine, code: MachineErrorCode): boolean =>
  code === "InvalidArgument" && (spec.providerID ?? "") === "";

/** Failed look-ups, and the time of a drain unless a user forces the deletion, after which a deletion goes on without a node: a driver whose look-ups always fail would keep the VM for ever. */
const maxFailures = 5;

/** A look-up that fails for a passing reason is repeated for so long in any case, milliseconds: what makes it fail makes the deletion of the VM fail as well. */
const PASSING_MS = 5 * 60_000;

function isOverdue(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): boolean {
  const nowMs = now.getTime();
  const isPassing = ["transient", "exhausted"].includes(retryClassOf(failed.code));
  if (failed.failures < maxFailures || (isPassing && nowMs <= failed.firstFailedAt + PASSING_MS)) return false;
  return isForceDeletion(snapshot.machine) || nowMs > deletionStart(snapshot) + drainTimeoutMs(snapshot);
}

/** The deletion goes on: the driver finds the VM itself. */
const withoutAnswer = (happened: OperationEvent): StageResult => ({
  next: "Drain",
  happened,
  because: [
    { type: "Warning", reason: machineEventReasons.vmStatusUnknown, message: `${eventsText(happened)}; stage Drain` },
  ],
});

/** Keeps what the status reports instead of a failure that was recorded before: it may be a later attempt of another process, and two that repeat their own would never end. */
function unlessReported(result: StageResult, snapshot: MachineSnapshot, stage: DeletionStage): StageResult {
  const { machine, operation } = snapshot;
  const isRecorded = operation?.state === "failed" && operation.isAcknowledged;
  const isReported = markedStage(snapshot) === stage && machine.status?.lastOperation?.state === "Failed";
  if (!isRecorded || !isReported || result.next !== "stay") return result;
  const { happened: _, ...rest } = result;
  return rest;
}

/** A failed call as the status reports it for the first time. */
const failureOf = (
  { code, message, isHeldBack: heldBack = false }: FailedOperation,
  reason: "VmLookUpFailed" | "VmDeletionRetried" | "VmDeletionAborted",
): FailureEvent => ({ reason, code, message, heldBack });

/** What happens while the answer of the driver is in doubt: the call is repeated. */
function whileDoubtful({ text, againMs }: DeletionDoubt, { kind, endedAt }: EndedOperation, now: Date): StageResult {
  const requeueAfterMs = endedAt + againMs - now.getTime();
  const reported = text === undefined ? {} : ({ happened: text, state: "Failed" } as const);
  const actions = [{ kind: "StartOperation", operation: kind === "find" ? "find" : "delete" }] as const;
  return { next: "stay", ...reported, ...(requeueAfterMs > 0 ? { requeueAfterMs } : { actions }) };
}

/** What follows from a look-up that found no VM: a Node that only the driver can name would not be drained. */
function afterNotFound(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): StageResult | undefined {
  if (isOutdated(snapshot, failed)) return undefined;
  const doubt = doubtAboutEnd(snapshot, failed);
  return doubt === undefined
    ? { next: "Drain", happened: deletionEvents.vmNotFoundBeforeDrain() }
    : whileDoubtful(doubt, failed, now);
}

/** What follows from a failed look-up; nothing when it is to be repeated now. */
function afterFailedLookUp(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): StageResult | undefined {
  const { machine, inputs } = snapshot;
  if (failed.code === "NotFound") return afterNotFound(snapshot, failed, now);
  if (failed.code === "Uninitialized") return { next: "Drain", happened: deletionEvents.vmUninitialized() };
  if (failed.code === "Unimplemented") return { next: "Drain" };
  const requeueAfterMs = msUntilRetry(failed, inputs, now);
  const isBeyond = isBeyondDriver(machine, failed.code);
  const failure = failureOf(failed, "VmLookUpFailed");
  if (isOverdue(snapshot, failed, now) || (isBeyond && isForceDeletion(machine))) return withoutAnswer(failure);
  const reported = { ...failure, reason: "VmLookUpFailed", isBeyondDriver: isBeyond } as const;
  const happened = withAttempts(reported, failed, { status: machine.status, requeueAfterMs, now });
  if (!failed.isAcknowledged)
    return { next: "stay", happened, state: "Failed", actions: [{ kind: "AcknowledgeOperation" }], requeueAfterMs };
  return requeueAfterMs > 0
    ? unlessReported({ next: "stay", happened, state: "Failed", requeueAfterMs }, snapshot, "GetVmStatus")
    : undefined;
}

/** What follows from a look-up; nothing when it is to be made, or repeated, now. */
function afterLookUp(snapshot: MachineSnapshot, lookUp: EndedOperation, now: Date): StageResult | undefined {
  if (lookUp.state === "failed") return afterFailedLookUp(snapshot, lookUp, now);
  const { providerId = "", nodeName = "", unreadable } = lookUp.result;
  if (unreadable !== undefined) return withoutAnswer(unreadable);
  if (!canBeLabel(nodeName) && (hasId(snapshot.machine) || providerId === "")) return { next: "Drain" };
  // The node is found by its name or the id of its VM in the next reconcile.
  return { next: "stay", actions: recordIds(snapshot, lookUp.result) };
}

/** Finds the node of the machine: from the objects, else from the driver. */
export const getVmStatus: Stage = (snapshot, now) => {
  const { machine, node, link, hasTarget, operation, classView } = snapshot;
  if (!hasTarget) return { next: "DeleteVm", happened: deletionEvents.noTargetCluster() };
  // The node of that name belongs to another VM and must not be drained.
  const { staleNode } = readIntent(machine) ?? {};
  if (staleNode !== undefined) return { next: "DeleteVm", happened: staleNodeText(staleNode) };
  // The label may name the node of another VM while the machine has a VM of its own, which the driver finds.
  const isNamed =
    (machine.metadata.labels?.[labelKeys.node] ?? "") !== "" && (link.foreignNode === undefined || hasId(machine));
  if (node !== undefined || isNamed) return { next: "Drain" };
  if (isWithoutRequest(machine)) return { next: "DeleteVm", happened: deletionEvents.vmNeverRequested() };
  // Without a class no driver can be called. Where the deletion of the VM has to wait for it, so does the look-up: otherwise the VM goes without a drain once the class is back.
  if (classView.state === "unusable") {
    const result = withoutClass(machine, classView);
    return result.next === "stay" ? result : { next: "Drain", happened: classView.problem };
  }
  if (operation?.state === "running") return { next: "stay" };
  const isEnded = operation?.state === "failed" || operation?.state === "done";
  const result = isEnded && operation.kind === "find" ? afterLookUp(snapshot, operation, now) : undefined;
  return result ?? { next: "stay", actions: [{ kind: "StartOperation", operation: "find" }] };
};

/** Deletes VolumeAttachments after a forced drain, so that other nodes can attach the volumes once the VM is deleted. */
export const deleteVolumeAttachments: Stage = ({ node, attachments }) => {
  const left = attachments.filter(({ metadata }) => metadata.deletionTimestamp == null);
  // MCM may have left the deletion at this stage. The VM of an unreachable node may still write to the volumes.
  if (node === undefined || left.length === 0 || isUnreachable(node)) return { next: "DeleteVm" };
  return {
    next: "DeleteVm",
    actions: left.map(({ metadata }) => ({
      kind: "DeleteVolumeAttachment",
      name: metadata.name,
      uid: metadata.uid ?? "",
    })),
  };
};

/** Without a class no driver can be called: only a machine that has no VM goes on. */
function withoutClass(machine: Machine, view: ClassView & { readonly state: "unusable" }): StageResult {
  const { isMissing, problem } = view;
  const { providerID = "" } = machine.spec;
  // A class is kept while machines refer to it: one that does not exist never existed, and without an intent no VM was requested.
  const wasAsked = readIntent(machine) !== undefined;
  const neverHadVm = providerID === "" && ((isMissing && !wasAsked) || isForceDeletion(machine));
  if (neverHadVm) return { next: "DeleteNode", happened: problem };
  const vm = providerID === "" ? "a VM that may exist" : `VM ${providerID}`;
  return { next: "stay", happened: classEvent(view, `Cannot delete ${vm}: ${problem}`), state: "Failed" };
}

/** Reports what waits for the VM, where it cannot be deleted. */
function withHeldBack(result: StageResult, snapshot: MachineSnapshot, now: Date): StageResult {
  // A skipped drain stays on record: it is made up for when the node is back.
  const isSkipped = readOperation(snapshot.machine.status).unreachableNode !== undefined;
  const note = heldBack(snapshot, now) ?? (isSkipped ? skippedDrain(snapshot) : undefined);
  return note === undefined || result.next !== "stay" || result.happened === undefined || result.state !== "Failed"
    ? result
    : { ...result, happened: [result.happened, note].flat() };
}

/**
 * Goes back to the drain that was skipped because the node was unreachable or absent, when the node is there and the VM is not being deleted. An absent node is read once more before the driver is called: the VM
 * may run its pods.
 */
function withSkippedDrain(result: StageResult, snapshot: MachineSnapshot, now: Date): StageResult {
  const { machine, node, operation } = snapshot;
  const isUnderWay = operation?.state === "running" || operation?.state === "pending";
  const { unreachableNode } = readOperation(machine.status);
  if (result.next !== "stay" || isUnderWay || unreachableNode === undefined) return result;
  if (node === undefined) {
    const isCall = result.actions?.some(({ kind }) => kind === "StartOperation") === true;
    return (isCall ? readNodeFirst(snapshot, now) : undefined) ?? result;
  }
  if (unreachableNode !== node.metadata.name || isTargetGivenUp(snapshot)) return result;
  if (!hasUndrainedPods(snapshot, node, now)) return result;
  const recovered = deletionEvents.nodeRecovered(node.metadata.name);
  return {
    ...result,
    resumeAt: "Drain",
    happened: [result.happened ?? [], recovered].flat(),
    actions: result.actions?.filter(({ kind }) => kind !== "StartOperation") ?? [],
  };
}

/** Lets the driver delete the VM. The stage ends when the driver reports that the VM does not exist. */
export const deleteVm: Stage = (snapshot, now) => {
  const result = vmDeletion(snapshot, now);
  const noted = withSkippedDrain(withHeldBack(result, snapshot, now), snapshot, now);
  return noted === result ? unlessReported(result, snapshot, "DeleteVm") : noted;
};

/** A VM that is deleted so soon makes the machine disappear without a write of Terminating before, milliseconds. */
const QUICK_DELETION_MS = 1_000;

/** The driver is called. */
function whileDeleting(
  { kind, since }: { readonly kind: OperationKind; readonly since: number },
  now: Date,
): StageResult {
  const leftMs = Math.min(since + QUICK_DELETION_MS - now.getTime(), QUICK_DELETION_MS);
  return kind === "delete" && leftMs > 0 ? { next: "stay", isBrief: true, requeueAfterMs: leftMs } : { next: "stay" };
}

/** The driver has deleted the VM, or found none. */
function afterDeletion(snapshot: MachineSnapshot, ended: EndedOperation, now: Date): StageResult {
  if (isOutdated(snapshot, ended)) return callDriver(snapshot);
  const doubt = doubtAboutEnd(snapshot, ended);
  return doubt === undefined
    ? { next: "DeleteNode", happened: { reason: isKept(ended) || foundNone(ended) ? "VmNotFound" : "VmDeleted" } }
    : whileDoubtful(doubt, ended, now);
}

function callDriver({ machine, classView }: MachineSnapshot): StageResult {
  if (classView.state === "unusable") return withoutClass(machine, classView);
  const actions = [{ kind: "StartOperation", operation: "delete" }] as const;
  return { next: "stay", actions, isBrief: true, requeueAfterMs: QUICK_DELETION_MS };
}

const vmDeletion: Stage = (snapshot, now) => {
  const { machine, operation, inputs } = snapshot;
  if (isWithoutRequest(machine)) return { next: "DeleteNode" };
  if (operation?.state === "running") return whileDeleting(operation, now);
  const ended = endedDeletion(operation);
  if (ended !== undefined) return afterDeletion(snapshot, ended, now);
  if (operation?.kind === "delete" && operation.state === "failed") {
    if (isBeyondDriver(machine, operation.code) && isForceDeletion(machine))
      return { next: "DeleteNode", happened: failureOf(operation, "VmDeletionAborted") };
    const isTransient = retryClassOf(operation.code) === "transient";
    const failure = failureOf(operation, isTransient ? "VmDeletionRetried" : "VmDeletionAborted");
    const requeueAfterMs = msUntilRetry(operation, inputs, now);
    const happened = withAttempts(failure, operation, { status: machine.status, requeueAfterMs, now });
    if (!operation.isAcknowledged)
      return { next: "stay", happened, state: "Failed", actions: [{ kind: "AcknowledgeOperation" }], requeueAfterMs };
    if (requeueAfterMs > 0) return { next: "stay", happened, state: "Failed", requeueAfterMs };
  }
  if (operation?.kind === "delete" && operation.state === "pending") {
    const { reason, message: reported = "" } = readOperation(machine.status);
    const isReported = reason === "VmDeletionPending";
    const message = bounded(operation.message);
    const isSame = isReported && isSameFailure(reported, message);
    const happened = { reason: "VmDeletionPending", message: isSame ? reported : message } as const;
    const requeueAfterMs = operation.checkAt - now.getTime();
    const because = isReported ? { because: [] } : {};
    if (requeueAfterMs > 0) return { next: "stay", happened, requeueAfterMs, ...because };
  }
  return callDriver(snapshot);
};

/** Start of the stage DeleteNode, wall clock in milliseconds. */
const nodeStageStart = (snapshot: MachineSnapshot): number | undefined =>
  markedStage(snapshot) === "DeleteNode"
    ? Date.parse(snapshot.machine.status?.lastOperation?.lastUpdateTime ?? "1970-01-01T00:00:00Z")
    : undefined;

/** What the deletion of a node object takes. */
interface NodeEnd {
  readonly happened: string;
  readonly actions: readonly MachineAction[];
  /** It waits, at most for so long. */
  readonly requeueAfterMs?: number;
}

/** Deletes a node object once Kubernetes has released its pods and volumes; other finalizers on the node do not delay the machine. */
function endOfNode(snapshot: MachineSnapshot, node: Node, now: Date): NodeEnd {
  const { name, uid = "" } = node.metadata;
  const release: readonly MachineAction[] =
    node.metadata.finalizers?.includes(finalizers.node) === true
      ? [{ kind: "PatchNode", name, patch: removeFinalizerPatch(node, finalizers.node) }]
      : [];
  const happened = deletionEvents.nodeDeleted(name);
  if (node.metadata.deletionTimestamp != null) return { happened, actions: release };
  const left = leftoverResources(snapshot, node, nodeStageStart(snapshot), now);
  return left === undefined
    ? { happened, actions: [...release, { kind: "DeleteNode", name, uid }] }
    : { happened, ...left };
}

/** Deletes the node object, and those of further nodes of the VM. */
export const deleteNode: Stage = (snapshot, now) => {
  const { node, otherNodes = [] } = snapshot;
  const skipped = skipNodeDeletion(snapshot);
  if (skipped !== undefined) return skipped;
  if (node === undefined) return { next: "RemoveFinalizer" };
  const others = otherNodes.map((other) => endOfNode({ ...snapshot, ...other }, other.node, now));
  const ends = [endOfNode(snapshot, node, now), ...others];
  const actions = ends.flatMap((end) => end.actions);
  const waits = ends.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  if (waits.length > 0) return { next: "stay", actions, requeueAfterMs: Math.min(...waits) };
  return { next: "RemoveFinalizer", happened: ends.map(({ happened }) => happened), actions };
};

/** All resources of the machine are deleted. */
export const removeFinalizer: Stage = ({ machine }) => ({
  next: "deleted",
  actions: [{ kind: "PatchMachine", patch: removeFinalizerPatch(machine, finalizers.machine) }],
});
