import { deletionEvents } from "@millwright/core";
import type { Pod } from "../../cluster/node-objects.ts";
import { judgePod } from "../../drain/pod-filter.ts";
import type { MachineAction } from "../decision.ts";
import type { MachineSnapshot } from "../snapshot.ts";
import { drainDeadline } from "../timeouts.ts";
import { isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";

/** Evictions that a budget refuses are tried again after this time; everything else wakes the drain by itself. */
const EVICTION_RETRY_MS = 5_000;

/** At most this many names of pods in a message. */
const NAMED_PODS = 3;

const isForced = (snapshot: MachineSnapshot, now: Date): boolean =>
  isForceDeletion(snapshot.machine) || now.getTime() > drainDeadline(snapshot);

const podName = ({ metadata }: Pod): string => `${metadata.namespace ?? ""}/${metadata.name}`;

function describe(pods: readonly Pod[]): string {
  const names = pods.map(podName).toSorted();
  const rest = names.length - NAMED_PODS;
  return `Waiting for ${names.length} pods to leave: ${names.slice(0, NAMED_PODS).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const action = (kind: "EvictPod" | "DeletePod", { metadata }: Pod): MachineAction => ({
  kind,
  namespace: metadata.namespace ?? "",
  name: metadata.name,
  uid: metadata.uid ?? "",
});

/**
 * Cordons the node and evicts its pods, budgets respected, until none is left or the deadline has passed; then the rest is deleted and the volume
 * attachments are dealt with in the next stage. All of it is computed from objects: a restart continues with the original deadline.
 */
export const drain: Stage = (snapshot, now) => {
  const { node } = snapshot;
  if (node === undefined) return { next: "DeleteVm", happened: deletionEvents.drainSkipped() };
  const isCordoned = node.spec?.unschedulable === true;
  const actions: MachineAction[] = isCordoned
    ? []
    : [{ kind: "PatchNode", name: node.metadata.name, patch: { spec: { unschedulable: true } } }];

  const staying = snapshot.pods.filter((pod) => judgePod(pod).behaviour !== "skip");
  if (isForced(snapshot, now)) {
    return {
      next: "DeleteVolumeAttachments",
      happened: deletionEvents.forceDrained(),
      actions: [...actions, ...staying.map((pod) => action("DeletePod", pod))],
    };
  }
  if (staying.length === 0) {
    // A pod may have been bound until now: only a node that was empty after its cordon is (machine-controller.md, F45).
    return isCordoned
      ? { next: "DeleteVm", happened: deletionEvents.drained() }
      : { next: "stay", actions, wakeAfterMs: EVICTION_RETRY_MS };
  }
  const toEvict = staying.filter((pod) => judgePod(pod).behaviour === "evict");
  return {
    next: "stay",
    happened: describe(staying),
    actions: [...actions, ...toEvict.map((pod) => action("EvictPod", pod))],
    wakeAfterMs: Math.min(
      drainDeadline(snapshot) - now.getTime() + 1,
      toEvict.length > 0 ? EVICTION_RETRY_MS : Number.MAX_SAFE_INTEGER,
    ),
  };
};
