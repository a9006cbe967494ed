import type { MachineSnapshot } from "../machine/state/snapshot.ts";
import type { Node } from "../model/node-objects.ts";
import { deletionStart, drainTimeoutMs } from "../model/timeouts.ts";
import { markPatch, type NodeMark, unmarkPatch } from "./node-mark.ts";
import type { OrphanVm } from "./nodes-of-vm.ts";
import { deletionStep, drainStep, type OrphanNodeDecision } from "./node-stages.ts";

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

const nothing: OrphanNodeDecision = { actions: [], because: [] };

/** How soon a doubt is looked at again, milliseconds. */
const DOUBT_CHECK_MS = 60_000;

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
