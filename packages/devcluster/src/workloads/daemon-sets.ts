import { createHash } from "node:crypto";
import { arrayAt, at, entriesOf, field, objectAt } from "../json/json.ts";
import { podFromTemplate, templateHash } from "./pod-from-template.ts";
import { controlledBy, isActive, isFinished, isReady, nodeNameOf } from "./pod-state.ts";
import { statusPatch } from "./status-patch.ts";
import { repellingTaint, taintsOf } from "./taints.ts";
import { type Action, isDeleting, type Item, type View } from "./view.ts";

const revisionLabel = "controller-revision-hash";

/** The tolerations that pods of DaemonSets get. Source: Kubernetes documentation, "DaemonSet", tolerations. */
const ownTolerations = [
  "not-ready",
  "unreachable",
  "disk-pressure",
  "memory-pressure",
  "pid-pressure",
  "unschedulable",
].map((name) => ({ key: `node.kubernetes.io/${name}`, operator: "Exists" }));

/** Maintains one pod of each DaemonSet on every eligible node, including cordoned and not ready ones. */
export function reconcileDaemonSets(view: View): readonly Action[] {
  return view.daemonSets.flatMap((set): readonly Action[] => {
    const revision = templateHash(set);
    const pods = controlledBy(set, view.pods);
    const nodes = view.nodes.filter((node) => !isDeleting(node) && isFor(set, node));
    const names = new Set(nodes.map((node) => node.metadata.name));
    const taken = new Set(pods.map(nodeNameOf));
    const missing = nodes
      .filter((node) => !taken.has(node.metadata.name))
      .map((node): Action => ({ do: "create", kind: "pods", object: newPod(set, node.metadata.name, revision) }));
    const wrong = pods
      .filter((pod) => !isDeleting(pod) && (isFinished(pod) || !names.has(nodeNameOf(pod))))
      .map((item): Action => ({ do: "delete", kind: "pods", item }));
    const old = pods.filter((pod) => isActive(pod) && at(pod, "metadata", "labels", revisionLabel) !== revision);
    // One node after the other: the next one when the pods of all others are ready.
    const isSettled = missing.length === 0 && pods.every(isReady);
    const [first] = isSettled ? old : [];
    const replaced: readonly Action[] = first === undefined ? [] : [{ do: "delete", kind: "pods", item: first }];
    const status = setStatus(set, pods, names, revision);
    return isDeleting(set) ? status : [...missing, ...wrong, ...replaced, ...status];
  });
}

function isFor(set: Item, node: Item): boolean {
  const spec = objectAt(set, "spec", "template", "spec");
  const labels = objectAt(node, "metadata", "labels");
  if (entriesOf(objectAt(spec, "nodeSelector")).some(([key, value]) => field(labels, key) !== value)) return false;
  return repellingTaint(taintsOf(node), [...arrayAt(spec, "tolerations"), ...ownTolerations]) === undefined;
}

function newPod(set: Item, nodeName: string, revision: string) {
  // The name is derived from the node: a reconcile whose cache lacks the pod cannot create a second one.
  const hash = createHash("sha256").update(`${nodeName} ${revision}`).digest("hex").slice(0, 5);
  const tolerations = [...arrayAt(set, "spec", "template", "spec", "tolerations"), ...ownTolerations];
  const identity = { name: `${set.metadata.name}-${hash}`, labels: { [revisionLabel]: revision } };
  return podFromTemplate("DaemonSet", set, identity, { nodeName, tolerations });
}

function setStatus(set: Item, pods: readonly Item[], nodes: ReadonlySet<string>, revision: string): readonly Action[] {
  const active = pods.filter(isActive);
  const placed = active.filter((pod) => nodes.has(nodeNameOf(pod)));
  const ready = placed.filter(isReady).length;
  return statusPatch("daemonSets", set, {
    desiredNumberScheduled: nodes.size,
    currentNumberScheduled: placed.length,
    numberMisscheduled: active.length - placed.length,
    numberReady: ready,
    numberAvailable: ready,
    updatedNumberScheduled: placed.filter((pod) => at(pod, "metadata", "labels", revisionLabel) === revision).length,
    observedGeneration: at(set, "metadata", "generation") ?? 0,
  });
}
