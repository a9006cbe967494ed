import { type DrainRule, labelKeys, selectorMatches } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import type { Pod } from "../model/node-objects.ts";
import { type Cordon, cordonOfPod, type CordonTerms, isReturned } from "./cordon.ts";
import type { DrainView } from "./drain-view.ts";

/** Why a drain skips a pod. */
export type SkipReason = "mirror" | "DaemonSet" | "completed" | "label" | "rule" | "returned";

/** Why a drain waits for a pod without evicting it. */
export type WaitReason = "terminating" | "overdue" | "waitCompleted";

/** What the eviction of a pod means for its owner. */
export type EvictReason = "managed" | "unmanaged" | "localStorage";

/** How a drain treats a pod, and why. */
export type PodVerdict =
  | { readonly behavior: "skip"; readonly reason: SkipReason }
  /** `order`: pods of a higher order are not evicted before this one is deleted. */
  | { readonly behavior: "wait"; readonly reason: WaitReason; readonly order: number }
  | { readonly behavior: "evict"; readonly reason: EvictReason; readonly order: number };

/** A pod that exists this long after its grace period is stuck: by a finalizer, or a dead kubelet. */
const OVERDUE_MS = 30_000;

/** Wall clock, milliseconds, after which a terminating pod is overdue; `undefined` for a pod that is not terminating. Its timestamp includes the grace period. */
export function overdueAfter({ metadata: { deletionTimestamp } }: Pod): number | undefined {
  return deletionTimestamp == null ? undefined : Date.parse(deletionTimestamp) + OVERDUE_MS;
}

const isMirror = (pod: Pod): boolean => pod.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;

const isCompleted = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

const hasLocalStorage = ({ spec }: Pod): boolean =>
  spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true;

/** The rule for a pod: its own label overrides the list, in which the first match counts. */
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
 * Classifies a pod for a drain. The filters, in this order: mirror pods and pods of DaemonSets stay, since the kubelet and the DaemonSet controller would recreate
 * them; completed pods do not matter; then the rules of users; a terminating pod needs no second eviction; a pod that was created after the cordon and tolerates it would be recreated on
 * the node again, so that it stays (MCM, `pkg/util/provider/drain/drain.go`, and `kubectl drain` evict only the pods that they find at first). Everything else is evicted, also with local
 * storage (which is lost) and without a controller (which is not recreated), as in MCM.
 */
export function judgePod(pod: Pod, rules: readonly DrainRule[], cordon: Cordon | undefined, now: Date): PodVerdict {
  if (isMirror(pod)) return { behavior: "skip", reason: "mirror" };
  const controller = controllerRefOf(pod);
  if (controller?.kind === "DaemonSet") return { behavior: "skip", reason: "DaemonSet" };
  if (isCompleted(pod)) return { behavior: "skip", reason: "completed" };
  const { behavior, order, source } = ruleFor(pod, rules);
  if (behavior === "Skip") return { behavior: "skip", reason: source };
  const endsAt = overdueAfter(pod);
  if (endsAt !== undefined)
    return { behavior: "wait", reason: now.getTime() > endsAt ? "overdue" : "terminating", order };
  if (behavior === "WaitCompleted") return { behavior: "wait", reason: "waitCompleted", order };
  if (isReturned(pod, cordon)) return { behavior: "skip", reason: "returned" };
  if (controller === undefined) return { behavior: "evict", reason: "unmanaged", order };
  return { behavior: "evict", reason: hasLocalStorage(pod) ? "localStorage" : "managed", order };
}

/** A pod that a drain waits for, with its verdict. */
export interface StayingPod {
  readonly pod: Pod;
  readonly uid: string;
  /** Namespace and name. */
  readonly key: string;
  readonly verdict: Extract<PodVerdict, { readonly order: number }>;
}

/** The pods that must still leave a node, by name. */
export function stayingPods(
  view: Pick<DrainView, "node" | "otherNodes" | "pods" | "rules" | "evictions">,
  terms: CordonTerms,
  now: Date,
): readonly StayingPod[] {
  const { pods, rules, evictions } = view;
  return pods
    .flatMap((pod) => {
      const { uid = "", namespace = "", name } = pod.metadata;
      // A pod that was evicted before the cordon was known gets its grace period.
      const isEvicted = (evictions.get(uid)?.state ?? "rejected") !== "rejected";
      const verdict = judgePod(pod, rules, isEvicted ? undefined : cordonOfPod(view, pod, terms), now);
      return verdict.behavior === "skip" ? [] : [{ pod, uid, key: `${namespace}/${name}`, verdict }];
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
