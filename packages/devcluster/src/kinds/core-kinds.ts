import { field, objectAt } from "../json/json.ts";
import { configMapPipeline, namespacePipeline, nodePipeline, secretPipeline } from "./pipelines/built-in-pipeline.ts";
import { podPipeline } from "./pipelines/pod-pipeline.ts";
import {
  configMapColumns,
  namespaceColumns,
  secretColumns,
  serviceAccountColumns,
  serviceColumns,
} from "./columns/columns.ts";
import { nodeColumns } from "./columns/node-columns.ts";
import { podColumns } from "./columns/pod-columns.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { kind } from "./kind-row.ts";

/** The kinds of the core group, except volumes and events. */
export const coreKinds: readonly ResourceDefinition[] = [
  kind({
    group: "",
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    namespaced: false,
    nameRule: "label",
    subresources: { status: true, finalize: true },
    columns: namespaceColumns,
    keepsStatusOnCreate: false,
    selectable: ["status.phase"],
    pipeline: namespacePipeline,
  }),
  kind({
    group: "",
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    namespaced: false,
    subresources: { status: true },
    columns: nodeColumns,
    selectable: ["spec.unschedulable"],
    fieldsOf: (object) => ({
      "spec.unschedulable": field(objectAt(object, "spec"), "unschedulable") === true ? "true" : "false",
    }),
    pipeline: nodePipeline,
  }),
  kind({
    group: "",
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    namespaced: true,
    subresources: { status: true, eviction: true, binding: true },
    columns: podColumns,
    countsGeneration: true,
    keepsStatusOnCreate: false,
    selectable: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "status.phase",
    ],
    pipeline: podPipeline,
  }),
  kind({
    group: "",
    kind: "Secret",
    plural: "secrets",
    namespaced: true,
    columns: secretColumns,
    selectable: ["type"],
    pipeline: secretPipeline,
  }),
  kind({
    group: "",
    kind: "ConfigMap",
    plural: "configmaps",
    shortNames: ["cm"],
    namespaced: true,
    columns: configMapColumns,
    pipeline: configMapPipeline,
  }),
  kind({
    group: "",
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    namespaced: true,
    columns: serviceAccountColumns,
  }),
  kind({
    group: "",
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    namespaced: true,
    subresources: { status: true },
    columns: serviceColumns,
  }),
];
