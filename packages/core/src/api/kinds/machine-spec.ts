import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { count, flag, goDuration, text } from "../schema/fields.ts";
import { namesClass } from "../schema/rules.ts";
import { nodeTemplateSpecSchema } from "./node-template.ts";
import { templateMetaSchema } from "./object-meta.ts";

/** Schema of a reference to a machine class. */
export const classReferenceSchema = z
  .object({
    apiGroup: text("Group of the class, normally machine.sapcloud.io.").exactOptional(),
    kind: text("Kind of the class: MachineClass.").exactOptional(),
    name: text("Name of the class, in the namespace of the object.").exactOptional(),
  })
  .meta({ description: "The MachineClass of the machine: its driver and the specification of the VM." });

const goDurationText = "Go duration such as 20m or 1h30m";

/** Schema of the id of a VM. */
export const providerIdField = text("Id of the VM, written once by the machine controller.");

/** Schema of `spec` of a machine. */
export const machineSpecSchema = z
  .object({
    class: classReferenceSchema
      .meta({
        description: "The MachineClass of the machine: its driver and the specification of the VM.",
        "x-kubernetes-validations": namesClass,
      })
      .exactOptional(),
    creationTimeout: goDuration(
      `How long VM and Node may take to become ready before the machine is Failed; ${goDurationText}. Default: --machine-creation-timeout.`,
    ).exactOptional(),
    disableHealthTimeout: flag(
      "Whether an unhealthy machine is never remediated instead of becoming Failed. Default: false.",
    ).exactOptional(),
    drainTimeout: goDuration(
      `How long the drain may take before it is forced; ${goDurationText}. Default: --machine-drain-timeout.`,
    ).exactOptional(),
    healthTimeout: goDuration(
      `How long the Node may be unhealthy before the machine is Failed; ${goDurationText}. Default: --machine-health-timeout.`,
    ).exactOptional(),
    inPlaceUpdateTimeout: goDuration(
      `How long an in-place update may take; ${goDurationText}. Default: --machine-inplace-update-timeout.`,
    ).exactOptional(),
    machinePreserveTimeout: goDuration(
      `How long a machine is preserved; ${goDurationText}. Default: --machine-preserve-timeout.`,
    ).exactOptional(),
    maxEvictRetries: count(
      "Number of eviction attempts, every 20 seconds, before the pod is deleted. Default: --machine-max-evict-retries.",
    ).exactOptional(),
    nodeConditions: text(
      "Comma-separated Node conditions that make the machine unhealthy unless they are False. Default: --node-conditions.",
    ).exactOptional(),
    nodeTemplate: nodeTemplateSpecSchema.exactOptional(),
    providerID: providerIdField.exactOptional(),
  })
  .meta({ description: "Desired state of the machine." });

/** Schema of the template from which machines are created. */
export const machineTemplateSchema = z
  .object({
    metadata: templateMetaSchema.exactOptional(),
    spec: machineSpecSchema.meta({ description: "Specification of the machines." }).prefault({}),
  })
  .meta({ description: "The template from which machines are created." });

/** A reference to a machine class. */
export type ClassReference = DeepReadonly<z.infer<typeof classReferenceSchema>>;

/** Desired state of a machine. Every field is optional on the wire; durations are Go text, see parseGoDuration. */
export type MachineSpec = DeepReadonly<z.infer<typeof machineSpecSchema>>;

/** The template from which machines are created. */
export type MachineTemplate = DeepReadonly<z.infer<typeof machineTemplateSchema>>;
