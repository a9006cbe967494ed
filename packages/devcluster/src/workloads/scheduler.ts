import { apiTime } from "@millwright/kube";
import { arrayAt, at, entriesOf, field, objectAt, stringAt } from "../json/json.ts";
import { withCondition } from "../objects/conditions.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import { repellingTaint, taintsOf } from "./taints.ts";
import { claimProblem } from "./pod-volumes.ts";
import { countRequests } from "./resource-requests.ts";
import { type Action, isDeleting, type Item, podEvent, type View } from "./view.ts";

const scheduler = "default-scheduler";
/** Reasons that are about room on a node, which a pod of a higher priority could make. */
const isAboutRoom = (why: string): boolean => why === "Too many pods" || why.startsWith("Insufficient ");

/**
 * Binds pods without a node to the node with the fewest pods, among those with the labels that the pod selects, without a taint
 * that it does not tolerate (cordoned and not ready count as taints), and with room for one more pod and what its containers request. A pod that fits no node
 * gets the reason in its condition PodScheduled.
 */
export function schedulePods(view: View): readonly Action[] {
  const { pods, nodes, now } = view;
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const node = nodeNameOf(pod);
    if (node !== "" && !isFinished(pod)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  const requests = countRequests(pods);
  return pods.flatMap((pod): readonly Action[] => {
    if (nodeNameOf(pod) !== "" || isDeleting(pod) || isFinished(pod)) return [];
    if ((stringAt(pod, "spec", "schedulerName") ?? "default-scheduler") !== "default-scheduler") return [];
    if (arrayAt(pod, "spec", "schedulingGates").length > 0) return [];
    const missing = claimProblem(view, pod);
    if (missing !== undefined) {
      return unschedulable(
        pod,
        `0/${nodes.length} nodes are available: ${missing}. ${preemption(nodes.length, 0)}`,
        now,
      );
    }
    const mismatches = new Map<string, number>();
    let best: string | undefined;
    for (const node of nodes) {
      const { name } = node.metadata;
      const why = whyNot(pod, node, counts.get(name) ?? 0) ?? insufficient(requests.lacking(pod, node));
      if (why !== undefined) mismatches.set(why, (mismatches.get(why) ?? 0) + 1);
      else if (best === undefined || (counts.get(name) ?? 0) < (counts.get(best) ?? 0)) best = name;
    }
    if (best === undefined) return unschedulable(pod, unschedulableMessage(nodes.length, mismatches), now);
    counts.set(best, (counts.get(best) ?? 0) + 1);
    requests.add(pod, best);
    const { namespace = "", name } = pod.metadata;
    const assigned = `Successfully assigned ${namespace}/${name} to ${best}`;
    return [{ do: "bind", pod, nodeName: best, events: [podEvent(pod, scheduler, "Scheduled", assigned)] }];
  });
}

/** Why a pod does not fit a node, in the words of kube-scheduler; undefined when it fits. */
function whyNot(pod: Item, node: Item, podCount: number): string | undefined {
  const labels = objectAt(node, "metadata", "labels");
  const wanted = entriesOf(objectAt(pod, "spec", "nodeSelector"));
  if (wanted.some(([key, value]) => field(labels, key) !== value)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  const taint = repellingTaint(taintsOf(node), arrayAt(pod, "spec", "tolerations"));
  if (taint !== undefined) {
    const key = stringAt(taint, "key") ?? "";
    if (key === "node.kubernetes.io/unschedulable") return "node(s) were unschedulable";
    return "node(s) had untolerated taint(s)";
  }
  const room = Number(at(node, "status", "allocatable", "pods") ?? 110);
  return podCount >= room ? "Too many pods" : undefined;
}

const insufficient = (resource: string | undefined): string | undefined => resource && `Insufficient ${resource}`;

/** Why a pod fits on no node, in the words of kube-scheduler 1.35. */
function unschedulableMessage(nodeCount: number, mismatches: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return "no nodes available to schedule pods";
  const reasons = [...mismatches].map(([why, count]) => `${count} ${why}`).toSorted();
  const fullNodes = [...mismatches].reduce((sum, [why, count]) => (isAboutRoom(why) ? sum + count : sum), 0);
  return `0/${nodeCount} nodes are available: ${reasons.join(", ")}. ${preemption(nodeCount, fullNodes)}`;
}

/** The result of preemption: all pods have the same priority here, so there is never a victim. */
function preemption(nodeCount: number, fullNodes: number): string {
  const others = nodeCount - fullNodes;
  const outcomes = [
    ...(fullNodes === 0 ? [] : [`${fullNodes} No preemption victims found for incoming pod`]),
    ...(others === 0 ? [] : [`${others} Preemption is not helpful for scheduling`]),
  ].toSorted();
  return `no new claims to deallocate, preemption: 0/${nodeCount} nodes are available: ${outcomes.join(", ")}.`;
}

function unschedulable(pod: Item, message: string, now: Date): readonly Action[] {
  const wanted = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
  const next = withCondition(pod, wanted, apiTime(now));
  if (next === pod) return [];
  const conditions = arrayAt(next, "status", "conditions");
  const events = [podEvent(pod, scheduler, "FailedScheduling", message, "Warning")];
  return [{ do: "patch", kind: "pods", item: pod, patch: { status: { conditions } }, subresource: "status", events }];
}
