import type { ScalePaths, ResourceDefinition } from "./resource-definition.ts";
import { kind } from "./kind-row.ts";
import { podSpec } from "./pod-schema.ts";
import type { Schema } from "./schema.ts";
import {
  anything,
  conditions,
  flag,
  int32,
  int64,
  intOrString,
  kindSchema,
  labelSelector,
  list,
  objectMeta,
  struct,
  text,
} from "./schema-notation.ts";
import { daemonSetColumns, deploymentColumns, replicaSetColumns, statefulSetColumns } from "./workload-columns.ts";
import { workloadPipeline } from "./workload-pipeline.ts";

const template: Schema = struct({ metadata: objectMeta, spec: podSpec });
const rollingUpdate = struct({ maxSurge: intOrString, maxUnavailable: intOrString, partition: int32 });
const strategy = struct({ type: text, rollingUpdate });

const scale: ScalePaths = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};

const counts = {
  observedGeneration: int64,
  replicas: int32,
  readyReplicas: int32,
  availableReplicas: int32,
  conditions,
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
    schema: kindSchema({
      spec: struct({
        minReadySeconds: int32,
        paused: flag,
        progressDeadlineSeconds: int32,
        replicas: int32,
        revisionHistoryLimit: int32,
        selector: labelSelector,
        strategy,
        template,
      }),
      status: struct({
        ...counts,
        collisionCount: int32,
        terminatingReplicas: int32,
        unavailableReplicas: int32,
        updatedReplicas: int32,
      }),
    }),
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
    schema: kindSchema({
      spec: struct({ minReadySeconds: int32, replicas: int32, selector: labelSelector, template }),
      status: struct({ ...counts, fullyLabeledReplicas: int32, terminatingReplicas: int32 }),
    }),
    pipeline: workloadPipeline({ replicas: 1 }),
  }),
  kind({
    ...common,
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    subresources: { status: true, scale },
    columns: statefulSetColumns,
    schema: kindSchema({
      spec: struct({
        minReadySeconds: int32,
        ordinals: struct({ start: int32 }),
        persistentVolumeClaimRetentionPolicy: anything,
        podManagementPolicy: text,
        replicas: int32,
        revisionHistoryLimit: int32,
        selector: labelSelector,
        serviceName: text,
        template,
        updateStrategy: strategy,
        volumeClaimTemplates: list(anything),
      }),
      status: struct({
        ...counts,
        collisionCount: int32,
        currentReplicas: int32,
        currentRevision: text,
        updateRevision: text,
        updatedReplicas: int32,
      }),
    }),
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
    schema: kindSchema({
      spec: struct({
        minReadySeconds: int32,
        revisionHistoryLimit: int32,
        selector: labelSelector,
        template,
        updateStrategy: strategy,
      }),
      status: struct({
        collisionCount: int32,
        conditions,
        currentNumberScheduled: int32,
        desiredNumberScheduled: int32,
        numberAvailable: int32,
        numberMisscheduled: int32,
        numberReady: int32,
        numberUnavailable: int32,
        observedGeneration: int64,
        updatedNumberScheduled: int32,
      }),
    }),
    pipeline: workloadPipeline({
      revisionHistoryLimit: 10,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    }),
  }),
];
