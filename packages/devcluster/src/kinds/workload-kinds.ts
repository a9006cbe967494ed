import type { ScalePaths, ResourceDefinition } from "../resources/resource-definition.ts";
import { kind } from "./kind-row.ts";
import {
  daemonSetColumns,
  deploymentColumns,
  replicaSetColumns,
  statefulSetColumns,
} from "./columns/workload-columns.ts";
import { workloadPipeline } from "./pipelines/workload-pipeline.ts";

const scale: ScalePaths = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

const common = {
  group: "apps",
  namespaced: true,
  categories: ["all"],
  countsGeneration: true,
  keepsStatusOnCreate: false,
};

/** The kinds of the `apps` group. */
export const workloadKinds: readonly ResourceDefinition[] = [
  kind({
    ...common,
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    subresources: { status: true, scale },
    columns: deploymentColumns,
    pipeline: workloadPipeline({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
    }),
  }),
  kind({
    ...common,
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    subresources: { status: true, scale },
    columns: replicaSetColumns,
    pipeline: workloadPipeline({ replicas: 1 }),
  }),
  kind({
    ...common,
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    subresources: { status: true, scale },
    columns: statefulSetColumns,
    pipeline: workloadPipeline({
      replicas: 1,
      revisionHistoryLimit: 10,
      podManagementPolicy: "OrderedReady",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    }),
  }),
  kind({
    ...common,
    kind: "DaemonSet",
    plural: "daemonsets",
    shortNames: ["ds"],
    subresources: { status: true },
    columns: daemonSetColumns,
    pipeline: workloadPipeline({
      revisionHistoryLimit: 10,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    }),
  }),
];
