import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { count, int32, int64, text, timestamp } from "../schema/fields.ts";
import { selectsSomething } from "../schema/rules.ts";
import { labelSelectorSchema } from "../values/label-selector-schema.ts";
import { classReferenceSchema, machineTemplateSchema } from "./machine-spec.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { failedMachinesSchema, lastOperationSchema } from "./operation.ts";
import { apiVersionField, kindField, machineGroup } from "./resource-type.ts";

const machineSetSpecSchema = z
  .object({
    autoPreserveFailedMachineMax: count(
      "Maximum number of Failed machines that are preserved automatically. Default: 0.",
    ).exactOptional(),
    machineClass: classReferenceSchema
      .meta({ description: "Read by metrics only; the class of the machines is in the template." })
      .exactOptional(),
    minReadySeconds: count(
      "Seconds for which a new machine must be ready before it counts as available. Default: 0.",
    ).exactOptional(),
    replicas: count("Number of machines, at most 100,000. Default: 0.").exactOptional(),
    selector: labelSelectorSchema(
      "Selects the Machines of the set; must match the labels of the template.",
    ).exactOptional(),
    template: machineTemplateSchema.prefault({}),
  })
  .meta({ description: "Desired state of the set.", "x-kubernetes-validations": [selectsSomething] });

const machineSetConditionSchema = z.object({
  lastTransitionTime: timestamp("When the status last changed.").exactOptional(),
  message: text("Human-readable details.").exactOptional(),
  observedGeneration: int64("metadata.generation for which the condition was computed.").exactOptional(),
  reason: text("Reason of the last change, one word.").exactOptional(),
  status: text("True, False or Unknown."),
  type: text("Type of the condition."),
});

const machineSetStatusSchema = z
  .object({
    autoPreserveFailedMachineCount: int32("Number of machines annotated for automatic preservation.").exactOptional(),
    availableReplicas: int32("Number of machines in phase Available or Running.").exactOptional(),
    failedMachines: failedMachinesSchema.exactOptional(),
    fullyLabeledReplicas: int32("Number of machines with all labels of the template.").exactOptional(),
    lastOperation: lastOperationSchema.exactOptional(),
    machineSetCondition: z
      .array(machineSetConditionSchema)
      .meta({ description: "Conditions of the set." })
      .exactOptional(),
    observedGeneration: int64("metadata.generation that was acted on last.").exactOptional(),
    preservedFailedReplicas: int32("Number of Failed machines that are preserved.").exactOptional(),
    readyReplicas: int32("Number of machines in phase Running.").exactOptional(),
    replicas: int32("Number of machines, those being deleted included.").exactOptional(),
  })
  .meta({ description: "Last observed state of the set." });

/** Schema of a MachineSet: source of its type, its CustomResourceDefinition and its reader. */
export const machineSetSchema = z
  .object({
    apiVersion: apiVersionField,
    kind: kindField,
    metadata: objectMetaSchema,
    spec: machineSetSpecSchema.prefault({}),
    status: machineSetStatusSchema.exactOptional(),
  })
  .meta({ description: "A MachineSet maintains a number of identical machines." });

/** The resource `machinesets.machine.sapcloud.io`. */
export const machineSetResource = {
  group: machineGroup,
  version: "v1alpha1",
  kind: "MachineSet",
  plural: "machinesets",
  singular: "machineset",
  shortNames: ["mcs"],
  namespaced: true,
} as const;

/** A number of identical machines. */
export type MachineSet = DeepReadonly<z.infer<typeof machineSetSchema>>;

/** Desired state of a set. */
export type MachineSetSpec = DeepReadonly<z.infer<typeof machineSetSpecSchema>>;

/** Observed state of a set. Its conditions are called `machineSetCondition` on the wire. */
export type MachineSetStatus = DeepReadonly<z.infer<typeof machineSetStatusSchema>>;

/** A condition of a set. `observedGeneration` is ours; MCM's CustomResourceDefinition prunes it. */
export type MachineSetCondition = DeepReadonly<z.infer<typeof machineSetConditionSchema>>;
