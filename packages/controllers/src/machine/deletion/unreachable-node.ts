import { nodeConditionTypes } from "@millwright/core";
import type { DrainAction } from "../../drain/drain-action.ts";
import { stayingPods } from "../../drain/staying-pods.ts";
import { conditionOf } from "../../model/node-condition.ts";
import type { Node } from "../../model/node-objects.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Whether the kubelet of the node terminates no pods, as far as is known, while the VM may be running with all their containers: a node behind a network partition
 * looks like a dead one. A node that never reported its readiness runs no pods.
 */
export function isUnreachable(node: Node): boolean {
  const ready = conditionOf(node, nodeConditionTypes.ready);
  return ready !== undefined && ready.status !== "True";
}

/** Keeps new pods off the node, if it accepts that. */
export const cordonUnreachable = (node: Node): readonly DrainAction[] =>
  node.spec?.unschedulable === true
    ? []
    : [{ kind: "PatchNode", name: node.metadata.name, patch: { spec: { unschedulable: true } }, mayFail: true }];

/**
 * What is held back while the VM of an unreachable node is not deleted, as one sentence; `undefined` for nothing. Pods that are deleted by force, and volumes that are detached, start again elsewhere:
 * with those of the VM there would be two writers (Kubernetes documents, "Non-graceful node shutdown").
 */
export function heldBack({ node, pods, attachments }: MachineSnapshot, now: Date): string | undefined {
  if (node === undefined || !isUnreachable(node)) return undefined;
  const terms = { cordon: true, startedAt: now.getTime() };
  const hasPods = stayingPods({ node, pods, rules: [], evictions: new Map() }, terms, now).length > 0;
  if (!hasPods && attachments.length === 0) return undefined;
  return `Node ${node.metadata.name} is unreachable: its pods and volumes are not released until the driver confirms that the VM is deleted`;
}
