import {
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podResource,
  type ResourceType,
  volumeAttachmentResource,
} from "@millwright/kube";

/** The resources that workloads watch, by their names in the view. */
export const resources = {
  pods: podResource,
  nodes: nodeResource,
  volumes: persistentVolumeResource,
  claims: persistentVolumeClaimResource,
  attachments: volumeAttachmentResource,
  storageClasses: {
    group: "storage.k8s.io",
    version: "v1",
    kind: "StorageClass",
    plural: "storageclasses",
    namespaced: false,
  },
  replicaSets: { group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets", namespaced: true },
  deployments: { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true },
  statefulSets: { group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets", namespaced: true },
  daemonSets: { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
} as const satisfies Readonly<Record<string, ResourceType>>;

export type ResourceKey = keyof typeof resources;

/** Something of each resource. */
export const ofEachResource = <T>(of: (key: ResourceKey) => T): Readonly<Record<ResourceKey, T>> => ({
  pods: of("pods"),
  nodes: of("nodes"),
  volumes: of("volumes"),
  claims: of("claims"),
  attachments: of("attachments"),
  storageClasses: of("storageClasses"),
  replicaSets: of("replicaSets"),
  deployments: of("deployments"),
  statefulSets: of("statefulSets"),
  daemonSets: of("daemonSets"),
});
