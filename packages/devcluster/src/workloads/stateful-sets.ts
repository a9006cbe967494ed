import { arrayAt, at, field, type Json, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import { podFromTemplate, templateHash } from "./pod-from-template.ts";
import { controlledBy, isActive, isFinished, isReady } from "./pod-state.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, isDeleting, type Item, keyOfItem, type View } from "./view.ts";

const revisionLabel = "controller-revision-hash";

/**
 * Maintains the pods of StatefulSets: fixed names, each with its own claims, created one after the other in order. A pod waits
 * for the deletion of its predecessor. Surplus and outdated pods are deleted from the end.
 */
export function reconcileStatefulSets(view: View): readonly Action[] {
  return view.statefulSets.flatMap((set): readonly Action[] => {
    const pods = controlledBy(set, view.pods);
    const revision = templateHash(set);
    const status = setStatus(set, pods, revision);
    return isDeleting(set) ? status : [...claimsOf(view, set), ...nextStep(set, pods, revision), ...status];
  });
}

function nextStep(set: Item, pods: readonly Item[], revision: string): readonly Action[] {
  const wanted = replicasOf(set);
  const inParallel = stringAt(set, "spec", "podManagementPolicy") === "Parallel";
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const steps: Action[] = [];
  for (let ordinal = 0; ordinal < wanted; ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) steps.push({ do: "create", kind: "pods", object: newPod(set, ordinal, revision) });
    else if (isFinished(pod) && !isDeleting(pod)) steps.push({ do: "delete", kind: "pods", item: pod });
    if (!inParallel && (pod === undefined || !isReady(pod))) return steps;
  }
  if (steps.length > 0) return steps;
  // All desired pods are ready: surplus and outdated ones are deleted, one at a time, from the end.
  const descending = [...byOrdinal].toSorted(([a], [b]) => b - a);
  if (!inParallel && descending.some(([, pod]) => isDeleting(pod))) return [];
  const last = descending.find(
    ([ordinal, pod]) =>
      isActive(pod) && (ordinal >= wanted || at(pod, "metadata", "labels", revisionLabel) !== revision),
  );
  return last === undefined ? [] : [{ do: "delete", kind: "pods", item: last[1] }];
}

function claimsOf({ claims }: View, set: Item): readonly Action[] {
  const present = new Set(claims.map(keyOfItem));
  const namespace = set.metadata.namespace ?? "";
  return arrayAt(set, "spec", "volumeClaimTemplates").flatMap((template) =>
    Array.from({ length: replicasOf(set) }, (_, ordinal) => claimName(template, set, ordinal))
      .filter((name) => !present.has(`${namespace}/${name}`))
      .map((name): Action => {
        const metadata = { name, namespace, labels: objectAt(set, "spec", "selector", "matchLabels") };
        const spec = objectAt(template, "spec");
        return {
          do: "create",
          kind: "claims",
          object: { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec },
        };
      }),
  );
}

function newPod(set: Item, ordinal: number, revision: string): JsonObject {
  const name = `${set.metadata.name}-${ordinal}`;
  const templates = arrayAt(set, "spec", "volumeClaimTemplates");
  const own = new Set(templates.map((template) => stringAt(template, "metadata", "name") ?? ""));
  const others = arrayAt(set, "spec", "template", "spec", "volumes").filter(
    (volume) => !own.has(stringAt(volume, "name") ?? ""),
  );
  const volumes = [
    ...others,
    ...templates.map((template) => ({
      name: stringAt(template, "metadata", "name") ?? "",
      persistentVolumeClaim: { claimName: claimName(template, set, ordinal) },
    })),
  ];
  const labels = {
    [revisionLabel]: revision,
    "statefulset.kubernetes.io/pod-name": name,
    "apps.kubernetes.io/pod-index": String(ordinal),
  };
  const subdomain = stringAt(set, "spec", "serviceName");
  return podFromTemplate(
    "StatefulSet",
    set,
    { name, labels },
    { hostname: name, ...(subdomain === undefined ? {} : { subdomain }), ...(volumes.length === 0 ? {} : { volumes }) },
  );
}

function setStatus(set: Item, pods: readonly Item[], revision: string): readonly Action[] {
  const active = pods.filter(isActive);
  const current = active.filter((pod) => at(pod, "metadata", "labels", revisionLabel) === revision).length;
  const ready = active.filter(isReady).length;
  return statusPatch("statefulSets", set, {
    replicas: active.length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: current,
    updatedReplicas: current,
    currentRevision: revision,
    updateRevision: revision,
    observedGeneration: at(set, "metadata", "generation") ?? 0,
  });
}

function claimName(template: Json, set: Item, ordinal: number): string {
  return `${stringAt(template, "metadata", "name") ?? ""}-${set.metadata.name}-${ordinal}`;
}

function replicasOf(set: Item): number {
  return Number(field(at(set, "spec"), "replicas") ?? 1);
}

function ordinalOf(set: Item, pod: Item): number {
  return Number(pod.metadata.name.slice(set.metadata.name.length + 1));
}
