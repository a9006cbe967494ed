import { storageClassPipeline, volumeAttachmentPipeline, volumePipeline } from "./built-in-pipeline.ts";
import {
  csiNodeColumns,
  persistentVolumeClaimColumns,
  persistentVolumeColumns,
  storageClassColumns,
  volumeAttachmentColumns,
} from "./columns.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import {
  anything,
  conditions,
  flag,
  int32,
  kindSchema,
  labelSelector,
  list,
  mapList,
  objectReference,
  quantities,
  struct,
  text,
  textMap,
  time,
} from "./schema-notation.ts";
import { kind } from "./kind-row.ts";

/** Volumes, claims, and what attaches them. */
export const volumeKinds: readonly ResourceDefinition[] = [
  kind({
    group: "",
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    shortNames: ["pv"],
    namespaced: false,
    subresources: { status: true },
    columns: persistentVolumeColumns,
    schema: kindSchema({
      spec: struct({
        accessModes: list(text),
        capacity: quantities,
        claimRef: objectReference,
        csi: anything,
        mountOptions: list(text),
        nodeAffinity: anything,
        persistentVolumeReclaimPolicy: text,
        storageClassName: text,
        volumeAttributesClassName: text,
        volumeMode: text,
      }),
      status: struct({ lastPhaseTransitionTime: time, message: text, phase: text, reason: text }),
    }),
    pipeline: volumePipeline("Available"),
  }),
  kind({
    group: "",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    shortNames: ["pvc"],
    namespaced: true,
    subresources: { status: true },
    columns: persistentVolumeClaimColumns,
    schema: kindSchema({
      spec: struct({
        accessModes: list(text),
        dataSource: objectReference,
        resources: struct({ limits: quantities, requests: quantities }),
        selector: labelSelector,
        storageClassName: text,
        volumeAttributesClassName: text,
        volumeMode: text,
        volumeName: text,
      }),
      status: struct({ accessModes: list(text), capacity: quantities, conditions, phase: text }),
    }),
    pipeline: volumePipeline("Pending"),
  }),
  kind({
    group: "storage.k8s.io",
    kind: "StorageClass",
    plural: "storageclasses",
    shortNames: ["sc"],
    namespaced: false,
    columns: storageClassColumns,
    schema: kindSchema({
      allowVolumeExpansion: flag,
      allowedTopologies: list(anything),
      mountOptions: list(text),
      parameters: textMap,
      provisioner: text,
      reclaimPolicy: text,
      volumeBindingMode: text,
    }),
    pipeline: storageClassPipeline,
  }),
  kind({
    group: "storage.k8s.io",
    kind: "VolumeAttachment",
    plural: "volumeattachments",
    namespaced: false,
    subresources: { status: true },
    columns: volumeAttachmentColumns,
    schema: kindSchema({
      spec: struct({
        attacher: text,
        nodeName: text,
        source: struct({ inlineVolumeSpec: anything, persistentVolumeName: text }),
      }),
      status: struct({ attachError: anything, attached: flag, attachmentMetadata: textMap, detachError: anything }),
    }),
    pipeline: volumeAttachmentPipeline,
  }),
  kind({
    group: "storage.k8s.io",
    kind: "CSINode",
    plural: "csinodes",
    namespaced: false,
    columns: csiNodeColumns,
    schema: kindSchema({
      spec: struct({
        drivers: mapList(
          ["name"],
          struct({ name: text, nodeID: text, topologyKeys: list(text), allocatable: struct({ count: int32 }) }),
        ),
      }),
    }),
  }),
];
