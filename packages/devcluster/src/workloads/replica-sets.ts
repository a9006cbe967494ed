import { at } from "../json/json.ts";
import { podFromTemplate } from "./pod-from-template.ts";
import { controlledBy, isActive, isReady, nodeNameOf } from "./pod-state.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, isDeleting, type Item, type View } from "./view.ts";

/** The most pods that one reconcile creates or deletes for one set, so that a typo does not fill the cluster at once. */
const burst = 50;

/** Maintains the pods of each ReplicaSet. Terminating pods do not count: they are replaced at once. */
export function reconcileReplicaSets(view: View): readonly Action[] {
  return view.replicaSets.flatMap((set): readonly Action[] => {
    const pods = controlledBy(set, view.pods).filter(isActive);
    const ready = pods.filter(isReady).length;
    const status = statusPatch("replicaSets", set, {
      replicas: pods.length,
      fullyLabeledReplicas: pods.length,
      readyReplicas: ready,
      availableReplicas: ready,
      observedGeneration: at(set, "metadata", "generation") ?? 0,
    });
    return isDeleting(set) ? status : [...adjust(set, pods), ...status];
  });
}

function adjust(set: Item, pods: readonly Item[]): readonly Action[] {
  const wanted = Number(at(set, "spec", "replicas") ?? 1);
  if (pods.length <= wanted) {
    const missing = Math.min(burst, wanted - pods.length);
    return Array.from({ length: missing }, () => ({
      do: "create",
      kind: "pods",
      object: podFromTemplate("ReplicaSet", set, {}),
    }));
  }
  return pods
    .toSorted((a, b) => worth(a) - worth(b))
    .slice(0, Math.min(burst, pods.length - wanted))
    .map((item) => ({ do: "delete", kind: "pods", item }));
}

/** The order of deletion: pods without a node first, then those that are not ready. */
function worth(pod: Item): number {
  return nodeNameOf(pod) === "" ? 0 : isReady(pod) ? 2 : 1;
}
