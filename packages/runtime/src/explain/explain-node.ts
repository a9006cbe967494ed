import type { Node } from "@millwright/controllers/reports";
import { nodeConditionTypes } from "@millwright/core/machine-api";
import { findCondition } from "@millwright/kube";
import type { Cause, Explanation } from "./explanation.ts";
import { withSince } from "./machine-cause.ts";

/** Why a kubelet is not ready, as it reports it; nothing when it is. */
function causesOf(node: Node): readonly Cause[] {
  const { status, reason, message, lastTransitionTime } =
    findCondition(node.status?.conditions, nodeConditionTypes.ready) ?? {};
  if (status === "True") return [];
  return [withSince(reason ?? "NotReady", message ?? "Condition Ready not yet reported", lastTransitionTime)];
}

/**
 * Explains a node, as its kubelet reports it.
 *
 * @param blockers what blocks its drain, a line with a bullet each; absent when nothing does
 */
export function explainNode(node: Node, blockers: readonly string[] | undefined): Explanation {
  const notReady = causesOf(node);
  const readiness = notReady.length === 0 ? "Ready" : "NotReady";
  const pods = (blockers ?? []).map((line) => withSince("Blocked", line.replace(/^\* /, ""), undefined));
  return {
    kind: "Node",
    name: node.metadata.name,
    others: [],
    state: blockers !== undefined ? "stuck" : notReady.length === 0 ? "ok" : "waiting",
    summary: node.spec?.unschedulable === true ? `${readiness}, cordoned` : readiness,
    causes: [...notReady, ...pods],
    children: [],
  };
}
