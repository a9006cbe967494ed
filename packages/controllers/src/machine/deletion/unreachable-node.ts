import type { DrainRule, OperationEvent } from "@millwright/core";
import type { DrainAction } from "../../drain/drain-action.ts";
import { stayingPods } from "../../drain/pod-verdict.ts";
import { deletionStart } from "../../model/timeouts.ts";
import type { Node } from "../../model/node-objects.ts";
import { isUnreachable } from "../drain/force-drain.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Keeps new pods off the node, if it accepts that. */
export const cordonUnreachable = (node: Node): readonly DrainAction[] =>
  node.spec?.unschedulable === true
    ? []
    : [{ kind: "PatchNode", name: node.metadata.name, patch: { spec: { unschedulable: true } }, mayFail: true }];

/**
 * What is held back while the VM of an unreachable node is not deleted, as a note; `undefined` for nothing. Pods that are deleted by force, and volumes that are detached, start again elsewhere:
 * with those of the VM there would be two writers (Kubernetes documents, "Non-graceful node shutdown").
 */
export function heldBack({ node, pods, attachments }: MachineSnapshot, now: Date): OperationEvent | undefined {
  if (node === undefined || !isUnreachable(node)) return undefined;
  const terms = { cordon: true, startedAt: now.getTime() };
  const hasPods = stayingPods({ node, pods, rules: [], evictions: new Map() }, terms, now).length > 0;
  if (!hasPods && attachments.length === 0) return undefined;
  return { reason: "PodsHeldBack", nodeName: node.metadata.name };
}

/** Whether pods that a drain waits for are on a node that terminates pods. Those that were deleted while it was unreachable have their grace period only from now on. */
export function hasUndrainedPods(
  snapshot: MachineSnapshot & { readonly node: Node },
  rules: readonly DrainRule[],
  now: Date,
): boolean {
  const { node, pods } = snapshot;
  if (isUnreachable(node)) return false;
  const terms = { cordon: true, startedAt: deletionStart(snapshot) };
  return stayingPods({ node, pods, rules, evictions: new Map() }, terms, now).length > 0;
}
