/** Built-in types that controllers of machines, and most others, touch. Source: Kubernetes API reference 1.35. */
import type { ResourceType } from "@millwright/base";

export const nodeResource = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  singular: "node",
  shortNames: ["no"],
  namespaced: false,
} as const satisfies ResourceType;

export const namespaceResource = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  singular: "namespace",
  shortNames: ["ns"],
  namespaced: false,
} as const satisfies ResourceType;

export const podResource = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  singular: "pod",
  shortNames: ["po"],
  namespaced: true,
} as const satisfies ResourceType;

export const secretResource = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  singular: "secret",
  namespaced: true,
} as const satisfies ResourceType;

export const eventResource = {
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  singular: "event",
  shortNames: ["ev"],
  namespaced: true,
} as const satisfies ResourceType;

export const persistentVolumeResource = {
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  singular: "persistentvolume",
  shortNames: ["pv"],
  namespaced: false,
} as const satisfies ResourceType;

export const persistentVolumeClaimResource = {
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  singular: "persistentvolumeclaim",
  shortNames: ["pvc"],
  namespaced: true,
} as const satisfies ResourceType;

export const leaseResource = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  singular: "lease",
  namespaced: true,
} as const satisfies ResourceType;

export const podDisruptionBudgetResource = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  singular: "poddisruptionbudget",
  shortNames: ["pdb"],
  namespaced: true,
} as const satisfies ResourceType;

export const volumeAttachmentResource = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  singular: "volumeattachment",
  namespaced: false,
} as const satisfies ResourceType;

export const customResourceDefinitionResource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  singular: "customresourcedefinition",
  shortNames: ["crd", "crds"],
  namespaced: false,
} as const satisfies ResourceType;
