import { apiTime } from "@millwright/kube";
import { arrayAt, at, type Json, type JsonObject, objectAt } from "../json/json.ts";
import { withCondition } from "../objects/conditions.ts";
import { plainText } from "../json/quoting.ts";
import { ownerReference, templateHash } from "./pod-from-template.ts";
import { controlledBy } from "./pod-state.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, deploymentEvent, isDeleting, type Item, type ObjectEvent, type View } from "./view.ts";

const hashLabel = "pod-template-hash";

/**
 * Maintains one ReplicaSet for each Deployment. A changed template gets a new ReplicaSet, at full size at once; the old one is
 * scaled to zero when the new one is ready. There is no surge, no pause and no history, which drains do not need.
 */
export function reconcileDeployments(view: View): readonly Action[] {
  return view.deployments.flatMap((deployment): readonly Action[] => {
    const sets = controlledBy(deployment, view.replicaSets);
    const hash = templateHash(deployment);
    const current = sets.find((set) => at(set, "metadata", "labels", hashLabel) === hash);
    const status = deploymentStatus(view, deployment, sets, current);
    if (isDeleting(deployment)) return status;
    const wanted = at(deployment, "spec", "replicas") ?? 1;
    if (current === undefined) {
      const events = [scaled(deployment, "up", `${deployment.metadata.name}-${hash}`, 0, wanted)];
      return [
        { do: "create", kind: "replicaSets", object: newReplicaSet(deployment, hash, wanted), events },
        ...status,
      ];
    }
    const isComplete = Number(at(current, "status", "readyReplicas") ?? 0) >= Number(wanted);
    const former = sets.filter((set) => set !== current && isComplete);
    const scale = (set: Item, replicas: Json): readonly Action[] => scaleTo(deployment, set, replicas);
    return [...scale(current, wanted), ...former.flatMap((set) => scale(set, 0)), ...status];
  });
}

function scaleTo(deployment: Item, set: Item, replicas: Json): readonly Action[] {
  const before = at(set, "spec", "replicas") ?? 1;
  if (before === replicas) return [];
  const events = [
    scaled(deployment, Number(before) < Number(replicas) ? "up" : "down", set.metadata.name, before, replicas),
  ];
  return [{ do: "patch", kind: "replicaSets", item: set, patch: { spec: { replicas } }, events }];
}

function scaled(about: Item, direction: "up" | "down", set: string, from: Json, to: Json): ObjectEvent {
  const message = `Scaled ${direction} replica set ${set} from ${plainText(from)} to ${plainText(to)}`;
  return deploymentEvent(about, "deployment-controller", "ScalingReplicaSet", message);
}

function newReplicaSet(deployment: Item, hash: string, replicas: Json): JsonObject {
  const template = objectAt(deployment, "spec", "template");
  const labels = { ...objectAt(template, "metadata", "labels"), [hashLabel]: hash };
  const selector = objectAt(deployment, "spec", "selector");
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace ?? "",
      labels,
      ownerReferences: [ownerReference("apps/v1", "Deployment", deployment)],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...objectAt(selector, "matchLabels"), [hashLabel]: hash } },
      template: { ...template, metadata: { ...objectAt(template, "metadata"), labels } },
    },
  };
}

function deploymentStatus(
  view: View,
  deployment: Item,
  sets: readonly Item[],
  current: Item | undefined,
): readonly Action[] {
  const sum = (key: string): number => sets.reduce((total, set) => total + Number(at(set, "status", key) ?? 0), 0);
  const wanted = Number(at(deployment, "spec", "replicas") ?? 1);
  const available = sum("availableReplicas");
  const updated = Number(at(current, "status", "replicas") ?? 0);
  const isAvailable = available >= wanted;
  const isDone = isAvailable && updated >= wanted;
  const time = apiTime(view.now);
  const conditions = [
    {
      type: "Available",
      status: isAvailable ? "True" : "False",
      reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
      message: isAvailable ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
    } as const,
    {
      type: "Progressing",
      status: "True",
      reason: isDone ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
      message: isDone ? "The ReplicaSet has successfully progressed." : "The ReplicaSet is progressing.",
    } as const,
  ].reduce<JsonObject>((object, condition) => withCondition(object, condition, time), deployment);
  return statusPatch("deployments", deployment, {
    replicas: sum("replicas"),
    readyReplicas: sum("readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
    updatedReplicas: updated,
    observedGeneration: at(deployment, "metadata", "generation") ?? 0,
    conditions: arrayAt(conditions, "status", "conditions"),
  });
}
