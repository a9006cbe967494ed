import { eventReasons, eventsText, type MachineStatus } from "@millwright/core";
import { drainRecordPatch } from "../drain/drain-record.ts";
import { statusAt } from "../machine/deletion/decide-deletion.ts";
import { drain } from "../machine/deletion/drain.ts";
import { deleteNode, deleteVolumeAttachments, type StageResult } from "../machine/deletion/stages.ts";
import type { MachineAction } from "../machine/state/decision.ts";
import type { MachineSnapshot } from "../machine/state/snapshot.ts";
import type { Decision } from "../model/decision.ts";
import type { Node } from "../model/node-objects.ts";
import { deletionStart, drainTimeoutMs } from "../model/timeouts.ts";
import { markPatch, type NodeMark, unmarkPatch } from "./node-mark.ts";
import type { OrphanVm } from "./nodes-of-vm.ts";

/** What a reconcile of a Node sees, of which a VM without machine may be. */
export interface OrphanNodeSnapshot {
  readonly namespace: string;
  readonly node: Node;
  /** Of this namespace only: other installations take theirs back. */
  readonly mark: NodeMark | undefined;
  /** The VM in quarantine, which is going to be deleted; `undefined`: a Machine owns it again, or it is kept. */
  readonly vm: OrphanVm | undefined;
  /** Whether this process found in a list, and in the API server, that the VM may be deleted now. */
  readonly isAllowed: boolean;
  /** Whether nothing is left to drain, as this process found. */
  readonly isDrained: boolean;
  /** Why nothing can be concluded from the machines. */
  readonly doubt: string | undefined;
  /** The Node as that of a Machine that is being deleted; only read once the drain is recorded. */
  readonly leaving: MachineSnapshot | undefined;
}

/** What follows. The status is that of the drain, and kept in memory. */
export interface OrphanNodeDecision extends Decision<MachineAction, MachineStatus> {
  /** The drain has ended: the VM may be deleted. */
  readonly isDrained?: true;
  /** The drain is not carried out any more: what was requested of pods is withdrawn. Default: false. */
  readonly stops?: true;
}

const nothing: OrphanNodeDecision = { actions: [], because: [] };

/** How soon a doubt is looked at again, milliseconds. */
const DOUBT_CHECK_MS = 60_000;

/** What a Machine would store of its drain is stored on the Node. The condition of the Node is about a Machine, and lists of VMs show whether there is a VM. */
const onNode = (actions: readonly MachineAction[], name: string): readonly MachineAction[] =>
  actions.flatMap((action): readonly MachineAction[] => {
    if (action.kind === "PatchNodeStatus" || action.kind === "StartOperation") return [];
    if (action.kind === "RecordDrain") return [{ kind: "PatchNode", name, patch: drainRecordPatch(action.record) }];
    return action.kind === "PatchMachine" ? [{ kind: "PatchNode", name, patch: action.patch }] : [action];
  });

/** One step of the drain: the stages of a Machine that is being deleted, up to its VM. */
function drainStep(leaving: MachineSnapshot, node: Node, vm: OrphanVm, now: Date): OrphanNodeDecision {
  const { name } = node.metadata;
  const result: StageResult = drain(leaving, now);
  if (result.next === "deleted") return nothing;
  const { actions = [], because = [] } = result;
  if (result.next === "stay") {
    const { happened, requeueAfterMs } = result;
    return {
      actions: onNode(actions, name),
      because,
      status: statusAt(leaving, "Drain", happened, "Processing", now),
      ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
    };
  }
  const detached =
    result.next === "DeleteVolumeAttachments" ? (deleteVolumeAttachments(leaving, now).actions ?? []) : [];
  const how = result.happened !== undefined ? `: ${eventsText(result.happened)}` : "";
  const message = `The drain of Node ${name} of VM ${vm.providerId} has ended${how}`;
  return {
    actions: onNode([...actions, ...detached], name),
    because: [...because, { type: "Normal", reason: eventReasons.orphanVmDrained, message }],
    isDrained: true,
  };
}

/** Deletes the Node of a VM that was deleted, as that of a Machine: when Kubernetes has released its pods and volumes. */
function deletionStep(leaving: MachineSnapshot, name: string, now: Date): OrphanNodeDecision {
  const result = deleteNode(leaving, now);
  const requeueAfterMs = result.next === "stay" ? result.requeueAfterMs : undefined;
  return {
    actions: onNode(result.actions ?? [], name),
    because: [],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

/**
 * Whether the Node is cordoned, and marked with why, before anything else: in quarantine once, so that a user who uncordons it keeps that, and before its drain again. A Node that refuses this is drained
 * by force after the drain timeout.
 */
function needsMark({ node, mark, leaving }: OrphanNodeSnapshot, now: Date): boolean {
  if (leaving === undefined) return mark === undefined;
  const isOver = now.getTime() > deletionStart(leaving) + drainTimeoutMs(leaving);
  return !isOver && (mark === undefined || (!mark.cordoned && node.spec?.unschedulable !== true));
}

/**
 * Decides about the Node of a VM without machine. It is cordoned from the quarantine on; once the VM may be deleted it is drained as that of a Machine, and once the VM is deleted the Node is, too. When the VM
 * gets a Machine, or is kept for another reason, the Node gets back what was taken from it.
 */
export function decideOrphanNode(snapshot: OrphanNodeSnapshot, now: Date): OrphanNodeDecision {
  const { namespace, node, mark, vm, leaving } = snapshot;
  const { name } = node.metadata;
  if (vm === undefined) {
    if (mark === undefined) return nothing;
    return { actions: [{ kind: "PatchNode", name, patch: unmarkPatch(node, mark) }], because: [], stops: true };
  }
  if (needsMark(snapshot, now)) {
    const patch = markPatch(node, vm, namespace);
    return { actions: [{ kind: "PatchNode", name, patch }], because: [] };
  }
  if (leaving === undefined) return nothing;
  if (vm.entry.deleted !== undefined) return deletionStep(leaving, name, now);
  if (snapshot.doubt !== undefined) return { ...nothing, stops: true, requeueAfterMs: DOUBT_CHECK_MS };
  if (!snapshot.isAllowed) return { ...nothing, stops: true };
  return snapshot.isDrained ? nothing : drainStep(leaving, node, vm, now);
}
