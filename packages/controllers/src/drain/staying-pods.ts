import type { Pod } from "../model/node-objects.ts";
import { cordonOf } from "./cordon.ts";
import type { DrainTerms, DrainView } from "./drain-view.ts";
import { judgePod, type PodVerdict } from "./pod-verdict.ts";

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
  { node, pods, rules, evictions }: Pick<DrainView, "node" | "pods" | "rules" | "evictions">,
  terms: Pick<DrainTerms, "cordon" | "startedAt">,
  now: Date,
): readonly StayingPod[] {
  const cordon = cordonOf(node, terms);
  return pods
    .flatMap((pod) => {
      const { uid = "", namespace = "", name } = pod.metadata;
      // A pod that was evicted before the cordon was known gets its grace period.
      const isEvicted = (evictions.get(uid)?.state ?? "rejected") !== "rejected";
      const verdict = judgePod(pod, rules, isEvicted ? undefined : cordon, now);
      return verdict.behaviour === "skip" ? [] : [{ pod, uid, key: `${namespace}/${name}`, verdict }];
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
