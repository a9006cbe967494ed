import type { Pod, PodVolume } from "../model/node-objects.ts";

/** The one annotation of a pod that a drain reads. */
const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Volumes that a drain cares about; most pods have none of them. */
const isOfInterest = ({ persistentVolumeClaim, ephemeral, emptyDir }: PodVolume): boolean =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined || emptyDir !== undefined;

type Condition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number];

/** Readiness is read by budgets, and why a pod has no node by the drain that its volume left; that it has one is said by the node. */
const keptOf = ({ type, status, reason }: Condition): readonly Condition[] => {
  if (type === "Ready") return [{ type, status }];
  return type === "PodScheduled" && status === "False" && reason !== undefined ? [{ type, status, reason }] : [];
};

/**
 * Keeps of a Pod what a drain reads, in a new object: a cluster has many times more pods than machines, and most of a pod is of no interest here.
 * What belongs to the volumes is kept as it is.
 */
export function trimPod({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences, finalizers } = metadata;
  const { creationTimestamp, deletionTimestamp } = metadata;
  const { nodeName, priority, terminationGracePeriodSeconds, volumes = [] } = spec ?? {};
  const mirror = annotations?.[mirrorAnnotation];
  const controllers = ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  const kept = volumes.filter(isOfInterest);
  const conditions = (status?.conditions ?? []).flatMap(keptOf);
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(labels === undefined ? {} : { labels }),
      ...(mirror === undefined ? {} : { annotations: { [mirrorAnnotation]: mirror } }),
      ...(controllers.length === 0 ? {} : { ownerReferences: controllers }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(priority === undefined ? {} : { priority }),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
      ...(kept.length === 0 ? {} : { volumes: kept }),
    },
    status: {
      ...(status?.phase === undefined ? {} : { phase: status.phase }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}
