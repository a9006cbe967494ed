import { decideDrain } from "../drain/decide-drain.ts";
import type { DrainTerms, DrainView } from "../drain/drain-view.ts";
import type { EvictionView } from "@millwright/kube";
import { aDrainView, drainTerms } from "./drain-views.ts";
import { later, testNow } from "./snapshots.ts";

/** Metadata of a pod that was evicted and is within its grace period. */
export const inGrace = { metadata: { deletionTimestamp: later(20_000).toISOString() } };

/** What a reconcile does and waits for, a line each. */
export function linesOf(view: Partial<DrainView>, terms: Partial<DrainTerms> = {}, now = testNow): readonly string[] {
  const progress = decideDrain(aDrainView(view), drainTerms(terms), now);
  const actions = progress.actions.map((action) => {
    if (action.kind === "PatchNode") return `PatchNode ${JSON.stringify(action.patch)}`;
    if (action.kind === "LookUpVolumeIds") return `AskVolumeIds ${action.volumes.join()}`;
    if (action.kind === "ReadPods") return `ReadPods ${action.nodeName}`;
    if (action.kind === "RecordDrain")
      return `RecordDrain ${action.record.moves.map(({ pod, detachedAt }) => `${pod}${detachedAt === undefined ? "" : " away"}`).join()}`;
    return `${action.kind}${action.kind === "DeletePod" && action.atOnce ? " at once" : ""} ${action.name}`;
  });
  const end =
    progress.state === "drained"
      ? progress.isForced
        ? "forced"
        : "drained"
      : progress.blockers.map(({ kind, pod }) => `${kind} ${pod.replace("default/", "")}`).join(", ");
  return [...actions, end];
}

/** When the next reconcile is due at the latest, unless the drain is over. */
export const requeueAfter = (
  view: Partial<DrainView>,
  terms: Partial<DrainTerms> = {},
  now = testNow,
): number | undefined => {
  const progress = decideDrain(aDrainView(view), drainTerms(terms), now);
  return progress.state === "draining" ? progress.requeueAfterMs : undefined;
};

/** The evictions of the pods of these names were accepted. */
export const evicted = (...names: readonly string[]): ReadonlyMap<string, EvictionView> =>
  new Map(names.map((name) => [`uid-${name}`, { state: "accepted" }]));

/** The eviction of the pod of that name was rejected. */
export const rejected = (name: string, change: Partial<Extract<EvictionView, { readonly state: "rejected" }>> = {}) =>
  new Map<string, EvictionView>([
    [`uid-${name}`, { state: "rejected", message: "no", isBudget: false, retryAt: later(5_000).getTime(), ...change }],
  ]);
