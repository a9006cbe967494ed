import { type DrainRule, labelKeys, selectorMatches } from "@millwright/core";
import { controllerRefOf } from "@millwright/kube";
import type { Pod } from "../model/node-objects.ts";

/** Why a drain leaves a pod where it is. */
export type SkipReason = "mirror" | "DaemonSet" | "completed" | "label" | "rule";

/** Why a drain waits for a pod without doing anything about it. */
export type WaitReason = "terminating" | "overdue" | "waitCompleted";

/** What the eviction of a pod means for its owner. */
export type EvictReason = "managed" | "unmanaged" | "localStorage";

/** What a drain does about a pod, and why. */
export type PodVerdict =
  | { readonly behaviour: "skip"; readonly reason: SkipReason }
  /** `order`: pods of a greater order stay until this one is gone. */
  | { readonly behaviour: "wait"; readonly reason: WaitReason; readonly order: number }
  | { readonly behaviour: "evict"; readonly reason: EvictReason; readonly order: number };

/** A pod that is still there so long after its grace period is held by something: a finalizer, a dead kubelet. */
const OVERDUE_MS = 30_000;

/** Wall clock, milliseconds: from then on a terminating pod is overdue; `undefined` for one that is not terminating. Its timestamp lies in the future by the grace period. */
export function overdueAfter({ metadata: { deletionTimestamp } }: Pod): number | undefined {
  return deletionTimestamp == null ? undefined : Date.parse(deletionTimestamp) + OVERDUE_MS;
}

const isMirror = (pod: Pod): boolean => pod.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;

const isCompleted = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

const hasLocalStorage = ({ spec }: Pod): boolean =>
  spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true;

/** The rule that holds for a pod: the pod's own label beats the list, in which the first match counts. */
function ruleFor(
  { metadata }: Pod,
  rules: readonly DrainRule[],
): Pick<DrainRule, "behavior" | "order"> & { readonly source: "label" | "rule" } {
  const label = metadata.labels?.[labelKeys.podDrain];
  if (label === "skip") return { behavior: "Skip", order: 0, source: "label" };
  const rule = rules.find(
    ({ selector, namespaces }) =>
      (selector === undefined || selectorMatches(selector, metadata.labels)) &&
      (namespaces === undefined || namespaces.includes(metadata.namespace ?? "")),
  ) ?? { behavior: "Drain", order: 0 };
  if (label === "wait-completed") return { behavior: "WaitCompleted", order: rule.order, source: "label" };
  return { behavior: rule.behavior, order: rule.order, source: "rule" };
}

/**
 * Sorts a pod for a drain. The filters, in this order: mirror pods and pods of DaemonSets stay, for the kubelet and the DaemonSet controller would bring them
 * back; completed pods hold nothing up; then come the rules of the people who run the pods; a pod that is terminating needs no second eviction. Everything
 * else is evicted, also with local storage (which is lost) and without a controller (nobody brings it back), as the Go implementation does.
 */
export function judgePod(pod: Pod, rules: readonly DrainRule[], now: Date): PodVerdict {
  if (isMirror(pod)) return { behaviour: "skip", reason: "mirror" };
  const controller = controllerRefOf(pod);
  if (controller?.kind === "DaemonSet") return { behaviour: "skip", reason: "DaemonSet" };
  if (isCompleted(pod)) return { behaviour: "skip", reason: "completed" };
  const { behavior, order, source } = ruleFor(pod, rules);
  if (behavior === "Skip") return { behaviour: "skip", reason: source };
  const endsAt = overdueAfter(pod);
  if (endsAt !== undefined)
    return { behaviour: "wait", reason: now.getTime() > endsAt ? "overdue" : "terminating", order };
  if (behavior === "WaitCompleted") return { behaviour: "wait", reason: "waitCompleted", order };
  if (controller === undefined) return { behaviour: "evict", reason: "unmanaged", order };
  return { behaviour: "evict", reason: hasLocalStorage(pod) ? "localStorage" : "managed", order };
}
