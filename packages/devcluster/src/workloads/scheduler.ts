import { arrayAt, at, entriesOf, field, objectAt, stringAt } from "../json.ts";
import { isTrue, withCondition } from "../object-conditions.ts";
import { rfc3339 } from "../timestamps.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import { repellingTaint, taintsOf } from "./taints.ts";
import { type Action, isDeleting, type Item, type View } from "./view.ts";

/**
 * Binds pods without a node: of the nodes that are Ready, not cordoned, with the labels the pod asks for, without a taint
 * that it does not tolerate, and with room for one more pod, the one with the fewest pods. A pod that fits nowhere is told
 * why, in its condition PodScheduled.
 */
export function schedulePods({ pods, nodes, now }: View): readonly Action[] {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const node = nodeNameOf(pod);
    if (node !== "" && !isFinished(pod)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return pods.flatMap((pod): readonly Action[] => {
    if (nodeNameOf(pod) !== "" || isDeleting(pod) || isFinished(pod)) return [];
    if ((stringAt(pod, "spec", "schedulerName") ?? "default-scheduler") !== "default-scheduler") return [];
    if (arrayAt(pod, "spec", "schedulingGates").length > 0) return [];
    const refusals = new Map<string, number>();
    let best: string | undefined;
    for (const node of nodes) {
      const { name } = node.metadata;
      const why = whyNot(pod, node, counts.get(name) ?? 0);
      if (why !== undefined) refusals.set(why, (refusals.get(why) ?? 0) + 1);
      else if (best === undefined || (counts.get(name) ?? 0) < (counts.get(best) ?? 0)) best = name;
    }
    if (best === undefined) return unschedulable(pod, nodes.length, refusals, now);
    counts.set(best, (counts.get(best) ?? 0) + 1);
    return [{ do: "bind", pod, nodeName: best }];
  });
}

/** Why a pod cannot go to a node, in the words of kube-scheduler; undefined when it can. */
function whyNot(pod: Item, node: Item, podCount: number): string | undefined {
  if (!isTrue(node, "Ready")) return "node(s) were not ready";
  const labels = objectAt(node, "metadata", "labels");
  const wanted = entriesOf(objectAt(pod, "spec", "nodeSelector"));
  if (wanted.some(([key, value]) => field(labels, key) !== value)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  const taint = repellingTaint(taintsOf(node), arrayAt(pod, "spec", "tolerations"));
  if (taint !== undefined) {
    const key = stringAt(taint, "key") ?? "";
    if (key === "node.kubernetes.io/unschedulable") return "node(s) were unschedulable";
    return `node(s) had untolerated taint {${key}: ${stringAt(taint, "value") ?? ""}}`;
  }
  const room = Number(at(node, "status", "allocatable", "pods") ?? 110);
  return podCount >= room ? "Too many pods" : undefined;
}

function unschedulable(
  pod: Item,
  nodeCount: number,
  refusals: ReadonlyMap<string, number>,
  now: Date,
): readonly Action[] {
  const reasons = [...refusals].map(([why, count]) => `${count} ${why}`).toSorted();
  const message =
    nodeCount === 0
      ? "no nodes available to schedule pods"
      : `0/${nodeCount} nodes are available: ${reasons.join(", ")}.`;
  const wanted = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
  const next = withCondition(pod, wanted, rfc3339(now));
  if (next === pod) return [];
  const conditions = arrayAt(next, "status", "conditions");
  return [{ do: "patch", kind: "pods", item: pod, patch: { status: { conditions } }, subresource: "status" }];
}
