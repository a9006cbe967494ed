import type { Pod } from "../model/node-objects.ts";
import type { DrainView } from "./drain-view.ts";
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
export function stayingPods({ pods, rules }: Pick<DrainView, "pods" | "rules">, now: Date): readonly StayingPod[] {
  return pods
    .flatMap((pod) => {
      const verdict = judgePod(pod, rules, now);
      const { uid = "", namespace = "", name } = pod.metadata;
      return verdict.behaviour === "skip" ? [] : [{ pod, uid, key: `${namespace}/${name}`, verdict }];
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
