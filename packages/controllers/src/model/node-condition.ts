import { type NodeCondition, nodeConditionTypes } from "@millwright/core/machine-api";
import type { Node } from "./node-objects.ts";
import { apiTime, findCondition } from "@millwright/kube";

/**
 * Strategic merge patch of a node's status: its conditions are merged by type. `metadata`: one of the node's metadata in the same request, which kube-apiserver applies as well for a built-in kind. `mayFail`:
 * a failure does not stop the next actions.
 */
export interface PatchNodeStatus {
  readonly kind: "PatchNodeStatus";
  readonly name: string;
  readonly patch: object;
  readonly metadata?: object;
  readonly mayFail?: boolean;
}

/** Desired condition of a node; its times follow from the current one. */
export interface NodeConditionState {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The condition of that type on a node, if any. */
export const conditionOf = (node: Node | undefined, type: string): NodeCondition | undefined =>
  findCondition(node?.status?.conditions, type);

/** Whether the kubelet of a node reports it as ready. */
export const isReadyNode = (node: Node): boolean => conditionOf(node, nodeConditionTypes.ready)?.status === "True";

/**
 * Sets a condition of a node; no action when it is up to date. The transition time is kept while status and reason are: deadlines
 * count from it (MCM, `pkg/util/provider/machinecontroller/machine_util.go` syncNodeTemplates).
 */
export function setNodeCondition(node: Node, state: NodeConditionState, now: Date): readonly PatchNodeStatus[] {
  const before = conditionOf(node, state.type);
  const isSameState = before?.status === state.status && before.reason === state.reason;
  if (isSameState && before.message === state.message) return [];
  const time = apiTime(now);
  const lastTransitionTime = (isSameState ? before.lastTransitionTime : undefined) ?? time;
  const patch = { conditions: [{ ...state, lastHeartbeatTime: time, lastTransitionTime }] };
  return [{ kind: "PatchNodeStatus", name: node.metadata.name, patch }];
}
