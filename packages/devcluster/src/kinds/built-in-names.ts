/** Kinds of Go's scheme, as far as they matter to this server, in the form `apiVersion/Kind`. */
export const builtInNames: ReadonlySet<string> = new Set([
  ...["Namespace", "Node", "Pod", "Secret", "ConfigMap", "ServiceAccount", "Service", "Event"].map(
    (kind) => `v1/${kind}`,
  ),
  ...["PersistentVolume", "PersistentVolumeClaim", "ReplicationController", "Binding"].map((kind) => `v1/${kind}`),
  ...["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"].map((kind) => `apps/v1/${kind}`),
  ...["PodDisruptionBudget", "Eviction"].map((kind) => `policy/v1/${kind}`),
  ...["VolumeAttachment", "CSINode", "StorageClass", "CSIDriver"].map((kind) => `storage.k8s.io/v1/${kind}`),
  ...["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"].map((kind) => `rbac.authorization.k8s.io/v1/${kind}`),
  "coordination.k8s.io/v1/Lease",
  "networking.k8s.io/v1/NetworkPolicy",
  "scheduling.k8s.io/v1/PriorityClass",
  "events.k8s.io/v1/Event",
]);
