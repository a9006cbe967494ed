import { drainTolerations } from "../model/cordon-toleration.ts";
import type { Pod, PodVolume } from "../model/node-objects.ts";

/** The one annotation of a pod that a drain reads. */
const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Volumes that a drain reads; most pods have none of them. */
const isOfInterest = ({ persistentVolumeClaim, ephemeral, emptyDir }: PodVolume): boolean =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined || emptyDir !== undefined;

type Condition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number];

/** Budgets read readiness; a drain reads why a pod that needs a moved volume has no node. `spec.nodeName` shows that it has one. */
const keptOf = ({ type, status, reason }: Condition): readonly Condition[] => {
  if (type === "Ready") return [{ type, status }];
  return type === "PodScheduled" && status === "False" && reason !== undefined ? [{ type, status, reason }] : [];
};

/**
 * Keeps the fields of a Pod that a drain reads, in a new object: a cluster has many times more pods than machines, and most fields are unused.
 * Fields of volumes are kept unchanged.
 */
export function trimPod(pod: Pod): Pod {
  const { metadata, spec, status } = pod;
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences, finalizers } = metadata;
  const { creationTimestamp, deletionTimestamp } = metadata;
  const { nodeName, priority, terminationGracePeriodSeconds, volumes = [] } = spec ?? {};
  const mirror = annotations?.[mirrorAnnotation];
  const controllers = ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  const kept = volumes.filter(isOfInterest);
  const tolerations = drainTolerations(pod);
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
      ...(tolerations.length === 0 ? {} : { tolerations }),
    },
    status: {
      ...(status?.phase === undefined ? {} : { phase: status.phase }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}
