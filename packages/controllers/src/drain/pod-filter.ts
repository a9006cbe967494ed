import { controllerRefOf } from "@millwright/kube";
import type { Pod } from "../cluster/node-objects.ts";

/** What a drain does about a pod, and why. */
export type PodVerdict =
  | { readonly behaviour: "evict" }
  | { readonly behaviour: "wait"; readonly reason: "terminating" }
  | { readonly behaviour: "skip"; readonly reason: "mirror" | "DaemonSet" | "completed" };

const isOfDaemonSet = (pod: Pod): boolean => controllerRefOf(pod)?.kind === "DaemonSet";

/**
 * Sorts a pod for a drain. Mirror pods and pods of DaemonSets stay: the kubelet and the DaemonSet controller would bring them back. Completed pods
 * hold nothing up, and a pod that is terminating already needs no second eviction.
 */
export function judgePod(pod: Pod): PodVerdict {
  if (pod.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined)
    return { behaviour: "skip", reason: "mirror" };
  if (isOfDaemonSet(pod)) return { behaviour: "skip", reason: "DaemonSet" };
  if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed")
    return { behaviour: "skip", reason: "completed" };
  if (pod.metadata.deletionTimestamp != null) return { behaviour: "wait", reason: "terminating" };
  return { behaviour: "evict" };
}
