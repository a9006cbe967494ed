import {
  deletionEvents,
  eventsText,
  finalizers,
  machineEventReasons,
  nodeConditionTypes,
  type OperationEvent,
  phaseOf,
  terminatingReasons,
} from "@millwright/core/machine-api";
import { dropFinalizerPatch } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { drainStatusUpdate } from "../drain/drain-status-update.ts";
import { type DrainProgress, isForceDue } from "../../drain/decide-drain.ts";
import { drainNode, drainTerms } from "../drain/drain-node.ts";
import { isForceDeletion } from "../../model/force-deletion.ts";
import { isUnreachable } from "../drain/force-drain.ts";
import { deletionStart } from "../../model/timeouts.ts";
import { readNodeFirst, skippedDrain, waitForAbsentNode } from "./absent-node.ts";
import { holdsResources } from "./leftover-resources.ts";
import {
  interruptionDeadline,
  interruptionOf,
  interruptionPatch,
  storedInterruption,
} from "../../model/interruption.ts";
import type { Stage, StageResult } from "./stages.ts";
import { cordonUnreachable } from "./unreachable-node.ts";
import { isTargetGivenUp } from "./lost-target.ts";
import { lookForVm } from "./vanished-vm.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import type { Node } from "../../model/node-objects.ts";
import type { MachineAction } from "../state/decision.ts";
import { conditionOf, isReadyNode, type PatchNodeStatus, setNodeCondition } from "../../model/node-condition.ts";

/**
 * Whether the machine was unhealthy, not just surplus: by its phase before the deletion flow started, afterwards by the last health check
 */
function wasUnhealthy({ machine }: MachineSnapshot): boolean {
  const phase = phaseOf(machine);
  if (phase !== "Terminating") return phase === "Failed" || phase === "Unknown";
  const checked = machine.status?.history?.findLast(({ operation }) => operation === "HealthCheck");
  return checked !== undefined && checked.outcome !== "Successful";
}

/** Sets the condition Terminating of the node once, with its reason: the cluster autoscaler and users read it. When that fails, the node is drained nevertheless. */
function markNodeTerminating(snapshot: MachineSnapshot, node: Node, now: Date): readonly PatchNodeStatus[] {
  if (conditionOf(node, nodeConditionTypes.terminating)?.status === "True") return [];
  const state = {
    type: nodeConditionTypes.terminating,
    status: "True",
    reason: wasUnhealthy(snapshot) ? terminatingReasons.unhealthy : terminatingReasons.scaleDown,
    message: `Machine ${snapshot.machine.metadata.name} is being deleted`,
  } as const;
  return setNodeCondition(node, state, now).map((action) => ({ ...action, mayFail: true }));
}

/** Where Kubernetes has nothing to release on the node, it needs our finalizer no longer: both are one request. A node that someone deletes keeps it until its VM is deleted. */
function markAndRelease(snapshot: MachineSnapshot, node: Node, now: Date): readonly MachineAction[] {
  const marks = markNodeTerminating(snapshot, node, now);
  const { finalizers: held = [], deletionTimestamp } = node.metadata;
  const isReleased = held.includes(finalizers.node) && deletionTimestamp == null;
  if (!isReleased || holdsResources(snapshot, node, now)) return marks;
  const metadata = dropFinalizerPatch(node.metadata, finalizers.node);
  return marks.map((action) => ({ ...action, metadata }));
}

/** Stores the deadline of a notice that the cloud will reclaim the VM, for a machine that is deleted for another reason: from then on the drain ends by it. */
function storeInterruption(
  { machine }: MachineSnapshot,
  node: Node,
  startedAt: number,
  now: Date,
): readonly MachineAction[] {
  const notice = interruptionOf(node);
  if (notice === undefined || storedInterruption(machine, node, startedAt) !== undefined) return [];
  return [{ kind: "PatchMachine", patch: interruptionPatch(interruptionDeadline(notice, now)) }];
}

/** Why there is no node to drain. */
function whyNoDrain(snapshot: MachineSnapshot): OperationEvent {
  const { foreignNode } = snapshot.link;
  if (foreignNode !== undefined) return deletionEvents.nodeOfAnotherVm(foreignNode.metadata.name);
  return skippedDrain(snapshot) ?? deletionEvents.drainSkipped();
}

/** The condition of the node, once it is not only made certain that nothing is left on it. */
function marksOf(snapshot: MachineSnapshot, node: Node, progress: DrainProgress, now: Date): readonly MachineAction[] {
  if (progress.state === "draining")
    return progress.isConfirming === true ? [] : markNodeTerminating(snapshot, node, now);
  return progress.isForced ? markNodeTerminating(snapshot, node, now) : markAndRelease(snapshot, node, now);
}

/** The end of a drain, with all actions of the stage. */
interface Drained extends Pick<Extract<DrainProgress, { readonly state: "drained" }>, "isForced" | "attached"> {
  readonly nodeName: string;
  readonly actions: readonly MachineAction[];
}

/** The result of a drain that was not forced. Volumes that a node does not release are reported: its CSI driver may be broken, and their next pods wait for them. */
function drainResult(
  nodeName: string,
  attached: readonly string[] | undefined,
): { readonly happened: OperationEvent; readonly because?: readonly Reason[] } {
  if (attached === undefined) return { happened: { reason: "Drained" } };
  const happened = { reason: "VolumesAttached", nodeName, volumes: attached } as const;
  const message = eventsText(happened);
  return { happened, because: [{ type: "Warning", reason: machineEventReasons.volumesAttached, message }] };
}

/** The drain has ended. Another node of the VM that is not ready in the cache was not drained: it is read first, for a kubelet may run its pods after all. */
function afterDrain(
  snapshot: MachineSnapshot,
  { nodeName, isForced, attached, actions }: Drained,
  now: Date,
): StageResult {
  const isOtherLeft = snapshot.otherNodes?.some(({ node }) => !isReadyNode(node)) === true;
  const read = isOtherLeft ? readNodeFirst(snapshot, now) : undefined;
  if (read !== undefined) return { ...read, actions: [...actions, ...read.actions] };
  if (isForced) return { next: "DeleteVolumeAttachments", happened: { reason: "ForceDrained" }, actions };
  return { next: "DeleteVm", ...drainResult(nodeName, attached), actions };
}

/** Whether no pod would be terminated by a drain: by the kubelet of a node that is unreachable, or an API server that is. */
const isImpossible = (snapshot: MachineSnapshot, node: Node, isForced: boolean): boolean =>
  isTargetGivenUp(snapshot) || (isForced && isUnreachable(node));

/**
 * Drains the node. After a forced drain the next stage deletes the volume attachments. Nothing of an unreachable node is deleted by force: its VM is deleted first, and Kubernetes releases pods and volumes
 * when that is confirmed. MCM deletes them while the VM may be running (`pkg/util/provider/machinecontroller/machine_util.go` drainNode).
 */
export const drain: Stage = (snapshot, now) => {
  const { drain: view, machine } = snapshot;
  if (view === undefined) {
    const wait = readNodeFirst(snapshot, now) ?? waitForAbsentNode(snapshot, now);
    return wait ?? { next: "DeleteVm", happened: whyNoDrain(snapshot) };
  }
  const nodeDrain = { startedAt: deletionStart(snapshot), isDemanded: isForceDeletion(machine), cordon: true };
  const terms = drainTerms(snapshot, view.node, nodeDrain, now);
  const isForced = isForceDue(terms, now);
  const lookUp = lookForVm(snapshot, view.node, now);
  const isSkipped = lookUp.vanished !== undefined || isImpossible(snapshot, view.node, isForced);
  const read = isForced || isSkipped ? readNodeFirst(snapshot, now) : undefined;
  if (read !== undefined) return read;
  if (isSkipped) {
    return {
      next: "DeleteVm",
      happened: lookUp.vanished ?? { reason: "NodeUnreachable", nodeName: view.node.metadata.name },
      actions: [...markNodeTerminating(snapshot, view.node, now), ...cordonUnreachable(view.node)],
    };
  }
  const progress = drainNode(snapshot, { view, ...nodeDrain }, now);
  const actions = [
    ...marksOf(snapshot, view.node, progress, now),
    ...storeInterruption(snapshot, view.node, nodeDrain.startedAt, now),
    ...progress.actions,
  ];
  if (progress.state === "drained")
    return afterDrain(snapshot, { ...progress, nodeName: view.node.metadata.name, actions }, now);
  const { message, causes, because, requeueAfterMs } = drainStatusUpdate(snapshot, progress, now);
  return {
    next: "stay",
    actions: [...lookUp.actions, ...actions],
    because,
    requeueAfterMs: Math.min(requeueAfterMs, progress.requeueAfterMs, lookUp.requeueAfterMs),
    ...(message === undefined ? {} : { happened: { reason: "Draining", text: message, causes } }),
    ...(progress.isConfirming === true ? { isBrief: true } : {}),
  };
};
