import { arrayAt, field, type Json } from "../json/json.ts";
import { disrupt } from "./disrupt.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import { tolerates } from "./taints.ts";
import { type Action, isDeleting, podEvent, type View } from "./view.ts";

/**
 * Deletes pods from nodes with a NoExecute taint, like kube-controller-manager's taint eviction: at once when they do not
 * tolerate it, else after the shortest `tolerationSeconds`. The time counts from when the taint was first seen here.
 */
export function evictFromTaintedNodes(view: View): readonly Action[] {
  const taints = new Map(
    view.nodes.map((node) => [
      node.metadata.name,
      arrayAt(node, "spec", "taints").filter((taint) => field(taint, "effect") === "NoExecute"),
    ]),
  );
  return view.pods.flatMap((pod): readonly Action[] => {
    const ofNode = taints.get(nodeNameOf(pod)) ?? [];
    if (ofNode.length === 0 || isDeleting(pod) || isFinished(pod)) return [];
    const seconds = toleratedSeconds(ofNode, arrayAt(pod, "spec", "tolerations"));
    if (seconds === undefined || !view.due(`taint/${pod.metadata.uid}`, seconds * 1000)) return [];
    const message = `Marking for deletion Pod ${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
    const condition = {
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    };
    return disrupt(view, pod, condition, { do: "delete", kind: "pods", item: pod }, [
      podEvent(pod, "taint-eviction-controller", "TaintManagerEviction", message),
    ]);
  });
}

/** How long a pod tolerates the taints; undefined for ever. */
function toleratedSeconds(taints: readonly Json[], tolerations: readonly Json[]): number | undefined {
  const used = taints.map((taint) => tolerations.filter((toleration) => tolerates(toleration, taint)));
  if (used.some((matching) => matching.length === 0)) return 0;
  const limits = used.flat().flatMap((toleration) => {
    const seconds = field(toleration, "tolerationSeconds");
    return typeof seconds === "number" ? [Math.max(0, seconds)] : [];
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}
