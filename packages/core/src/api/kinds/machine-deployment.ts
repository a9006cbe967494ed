import * as z from "zod";
import { annotationKeys } from "../../wire/annotations.ts";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { count, flag, int32, int64, intOrPercent, text, timestamp } from "../schema/fields.ts";
import { isOneOf, leavesRoom, namesOrchestration, selectsSomething } from "../schema/rules.ts";
import { resolveFenceposts } from "../values/fenceposts.ts";
import { labelSelectorSchema } from "../values/label-selector-schema.ts";
import { machineTemplateSchema } from "./machine-spec.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { failedMachinesSchema } from "./operation.ts";
import { apiVersionField, kindField, machineGroup } from "./resource-type.ts";

const fenceposts = {
  maxSurge: intOrPercent(
    "Maximum number of machines above replicas; a number or a percentage of replicas, rounded up. Default: 1.",
  ).exactOptional(),
  maxUnavailable: intOrPercent(
    "Maximum number of unavailable replicas; a number or a percentage of replicas, rounded down. Default: 0.",
  ).exactOptional(),
};

const strategySchema = z
  .object({
    inPlaceUpdate: z
      .object({
        ...fenceposts,
        orchestrationType: text(
          "Auto: the controller selects the nodes to update. Manual: a user does.",
        ).exactOptional(),
      })
      .meta({ description: "Settings of the strategy InPlaceUpdate.", "x-kubernetes-validations": [leavesRoom] })
      .exactOptional(),
    rollingUpdate: z
      .object(fenceposts)
      .meta({ description: "Settings of the strategy RollingUpdate.", "x-kubernetes-validations": [leavesRoom] })
      .exactOptional(),
    type: text("RollingUpdate, Recreate or InPlaceUpdate. Default: RollingUpdate.")
      .meta({ "x-kubernetes-validations": [isOneOf(["RollingUpdate", "Recreate", "InPlaceUpdate"])] })
      .exactOptional(),
  })
  .meta({
    description: "How machines of an old template are replaced by machines of the new one.",
    "x-kubernetes-validations": [namesOrchestration],
  });

const machineDeploymentSpecSchema = z
  .object({
    autoPreserveFailedMachineMax: count(
      "Maximum number of Failed machines of each set that are preserved automatically. Default: 0.",
    ).exactOptional(),
    minReadySeconds: count(
      "Seconds for which a new machine must be ready before it counts as available. Default: 0.",
    ).exactOptional(),
    paused: flag("Whether rollouts are paused; scaling and deletion continue. Default: false.").exactOptional(),
    progressDeadlineSeconds: count(
      "Seconds without progress after which the condition Progressing turns False. Default: no deadline.",
    ).exactOptional(),
    replicas: count("Number of machines, at most 100,000. Default: 0.").exactOptional(),
    revisionHistoryLimit: count("Number of old MachineSets without machines to keep. Default: all.").exactOptional(),
    rollbackTo: z
      .object({ revision: int64("Revision to roll back to; 0 is the previous one.").exactOptional() })
      .meta({ description: "Requests a rollback to an earlier template; the controller clears it." })
      .exactOptional(),
    selector: labelSelectorSchema(
      "Selects the MachineSets and Machines of the deployment; must match the labels of the template.",
    ).exactOptional(),
    strategy: strategySchema.exactOptional(),
    template: machineTemplateSchema,
  })
  .meta({ description: "Desired state of the deployment.", "x-kubernetes-validations": [selectsSomething] });

const machineDeploymentConditionSchema = z.object({
  lastTransitionTime: timestamp("When the status last changed.").exactOptional(),
  lastUpdateTime: timestamp("When the condition last changed.").exactOptional(),
  message: text("Human-readable details.").exactOptional(),
  observedGeneration: int64("metadata.generation for which the condition was computed.").exactOptional(),
  reason: text("Reason of the last change, one word.").exactOptional(),
  status: text("True, False or Unknown."),
  type: text("Type of the condition."),
});

const machineDeploymentStatusSchema = z
  .object({
    availableReplicas: int32("Number of machines in phase Available or Running, over all sets.").exactOptional(),
    collisionCount: int32(
      "Number of name collisions of new MachineSets; part of the hash in the name.",
    ).exactOptional(),
    conditions: z
      .array(machineDeploymentConditionSchema)
      .meta({ description: "Conditions of the deployment." })
      .exactOptional(),
    failedMachines: failedMachinesSchema.exactOptional(),
    observedGeneration: int64(
      "metadata.generation that was accepted and acted on last; not updated while the spec is invalid.",
    ).exactOptional(),
    preservedFailedReplicas: int32("Number of Failed machines that are preserved, over all sets.").exactOptional(),
    readyReplicas: int32("Number of machines in phase Running, over all sets.").exactOptional(),
    replicas: int32("Number of machines over all sets, those being deleted included.").exactOptional(),
    unavailableReplicas: int32("Number of machines that are not available yet.").exactOptional(),
    updatedReplicas: int32("Number of machines of the current template.").exactOptional(),
  })
  .meta({ description: "Last observed state of the deployment." });

/** Schema of a MachineDeployment: source of its type, its CustomResourceDefinition and its reader. */
export const machineDeploymentSchema = z
  .object({
    apiVersion: apiVersionField,
    kind: kindField,
    metadata: objectMetaSchema,
    spec: machineDeploymentSpecSchema,
    status: machineDeploymentStatusSchema.exactOptional(),
  })
  .meta({ description: "A MachineDeployment rolls a template out over MachineSets." });

/** The resource `machinedeployments.machine.sapcloud.io`. */
export const machineDeploymentResource = {
  group: machineGroup,
  version: "v1alpha1",
  kind: "MachineDeployment",
  plural: "machinedeployments",
  singular: "machinedeployment",
  shortNames: ["mcd"],
  namespaced: true,
} as const;

/** A template that is rolled out over MachineSets. */
export type MachineDeployment = DeepReadonly<z.infer<typeof machineDeploymentSchema>>;

/** Desired state of a deployment. */
export type MachineDeploymentSpec = DeepReadonly<z.infer<typeof machineDeploymentSpecSchema>>;

/** Observed state of a deployment. */
export type MachineDeploymentStatus = DeepReadonly<z.infer<typeof machineDeploymentStatusSchema>>;

/** A condition of a deployment. `observedGeneration` is ours; MCM's CustomResourceDefinition prunes it. */
export type MachineDeploymentCondition = DeepReadonly<z.infer<typeof machineDeploymentConditionSchema>>;

/** How machines of an old template are replaced, as written; see withMachineDeploymentDefaults. */
export type MachineDeploymentStrategy = DeepReadonly<z.infer<typeof strategySchema>>;

/** Between which sizes a cluster autoscaler may scale a deployment. */
export interface SizeLimits {
  readonly min: number;
  readonly max: number;
}

const wholeNumber = /^\d{1,9}$/;

/** What a deployment declares: limits; `undefined`, it is not scaled; or why its annotations cannot be used. */
export function readSizeLimits({ metadata: { annotations = {} } }: MachineDeployment): SizeLimits | string | undefined {
  const max = annotations[annotationKeys.autoscalerMaxSize];
  const min = annotations[annotationKeys.autoscalerMinSize] ?? "0";
  if (max === undefined) return undefined;
  if (!wholeNumber.test(max)) return `annotation ${annotationKeys.autoscalerMaxSize} must be a whole number`;
  if (!wholeNumber.test(min)) return `annotation ${annotationKeys.autoscalerMinSize} must be a whole number`;
  if (Number(min) > Number(max))
    return `annotation ${annotationKeys.autoscalerMinSize} must not be greater than ${annotationKeys.autoscalerMaxSize}`;
  return { min: Number(min), max: Number(max) };
}

/** Machines that a rollout may add to this many replicas. Only two strategies have a surge; it is 0 where the deployment has no defaults yet and names none. */
export function surgeOf({ spec: { strategy } }: MachineDeployment, replicas: number): number {
  if (strategy?.type === "RollingUpdate") return resolveFenceposts({ replicas, ...strategy.rollingUpdate }).maxSurge;
  if (strategy?.type === "InPlaceUpdate") return resolveFenceposts({ replicas, ...strategy.inPlaceUpdate }).maxSurge;
  return 0;
}
