import { storageClassPipeline, volumeAttachmentPipeline, volumePipeline } from "./pipelines/built-in-pipeline.ts";
import {
  csiNodeColumns,
  persistentVolumeClaimColumns,
  persistentVolumeColumns,
  storageClassColumns,
  volumeAttachmentColumns,
} from "./columns/columns.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { kind } from "./kind-row.ts";

/** PersistentVolumes, claims, attachments and storage classes. */
export const volumeKinds: readonly ResourceDefinition[] = [
  kind({
    group: "",
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    shortNames: ["pv"],
    namespaced: false,
    subresources: { status: true },
    columns: persistentVolumeColumns,
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
    pipeline: volumePipeline("Pending"),
  }),
  kind({
    group: "storage.k8s.io",
    kind: "StorageClass",
    plural: "storageclasses",
    shortNames: ["sc"],
    namespaced: false,
    columns: storageClassColumns,
    pipeline: storageClassPipeline,
  }),
  kind({
    group: "storage.k8s.io",
    kind: "VolumeAttachment",
    plural: "volumeattachments",
    namespaced: false,
    subresources: { status: true },
    columns: volumeAttachmentColumns,
    pipeline: volumeAttachmentPipeline,
  }),
  kind({
    group: "storage.k8s.io",
    kind: "CSINode",
    plural: "csinodes",
    namespaced: false,
    columns: csiNodeColumns,
  }),
];
