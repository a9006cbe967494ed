import type { Node, Pod } from "../cluster/node-objects.ts";
import type { DrainAction } from "./drain-action.ts";
import { judgePod } from "./pod-verdict.ts";

/** What a drain sees. It is computed from objects alone, so that a restart goes on with the original deadline. */
export interface DrainSnapshot {
  readonly node: Node;
  /** Pods on the node. */
  readonly pods: readonly Pod[];
  /** Wall clock, milliseconds: after this time what is left is deleted without asking. */
  readonly deadline: number;
  /** `force`: delete at once what would be evicted. */
  readonly mode: "normal" | "force";
  /** Whether the node is cordoned. A preserved node is not: a taint keeps new pods away from it. */
  readonly cordon: boolean;
}

/** How far a drain is. */
export type DrainProgress =
  | { readonly state: "drained"; readonly isForced: boolean; readonly actions: readonly DrainAction[] }
  | {
      readonly state: "draining";
      /** What is being waited for, for people; absent when there is nothing to say yet. */
      readonly message?: string;
      readonly actions: readonly DrainAction[];
      readonly wakeAfterMs: number;
    };

/** Evictions that a budget refuses are tried again after this time; everything else wakes the drain by itself. */
const EVICTION_RETRY_MS = 5_000;

/** At most this many names of pods in a message. */
const NAMED_PODS = 3;

const podName = ({ metadata }: Pod): string => `${metadata.namespace ?? ""}/${metadata.name}`;

function describe(pods: readonly Pod[]): string {
  const names = pods.map(podName).toSorted();
  const rest = names.length - NAMED_PODS;
  return `Waiting for ${names.length} pods to leave: ${names.slice(0, NAMED_PODS).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const action = (kind: "EvictPod" | "DeletePod", { metadata }: Pod): DrainAction => ({
  kind,
  namespace: metadata.namespace ?? "",
  name: metadata.name,
  uid: metadata.uid ?? "",
});

/**
 * Cordons a node and evicts its pods, budgets respected, until none is left or the deadline has passed; then the rest is deleted. Used wherever a node
 * is emptied: before its VM is deleted, before an in-place update, and when a Failed machine is preserved.
 */
export function decideDrain({ node, pods, deadline, mode, cordon }: DrainSnapshot, now: Date): DrainProgress {
  const isCordoned = !cordon || node.spec?.unschedulable === true;
  const actions: DrainAction[] = isCordoned
    ? []
    : [{ kind: "PatchNode", name: node.metadata.name, patch: { spec: { unschedulable: true } } }];

  const staying = pods.filter((pod) => judgePod(pod, [], now).behaviour !== "skip");
  if (mode === "force" || now.getTime() > deadline) {
    return {
      state: "drained",
      isForced: true,
      actions: [...actions, ...staying.map((pod) => action("DeletePod", pod))],
    };
  }
  if (staying.length === 0) {
    // A pod may have been bound until now: only a node that was empty after its cordon is (machine-controller.md, F45).
    return isCordoned
      ? { state: "drained", isForced: false, actions }
      : { state: "draining", actions, wakeAfterMs: EVICTION_RETRY_MS };
  }
  const toEvict = staying.filter((pod) => judgePod(pod, [], now).behaviour === "evict");
  return {
    state: "draining",
    message: describe(staying),
    actions: [...actions, ...toEvict.map((pod) => action("EvictPod", pod))],
    wakeAfterMs: Math.min(
      deadline - now.getTime() + 1,
      toEvict.length > 0 ? EVICTION_RETRY_MS : Number.MAX_SAFE_INTEGER,
    ),
  };
}
