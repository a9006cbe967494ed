import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { flag, text, timestamp } from "../schema/fields.ts";
import { machineSpecSchema, providerIdField } from "./machine-spec.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { machineOperationSchema } from "./operation.ts";
import { apiVersionField, kindField, machineGroup } from "./resource-type.ts";

const nodeAddressSchema = z.object({
  address: text("The address."),
  type: text("Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."),
});

const nodeConditionSchema = z.object({
  lastHeartbeatTime: timestamp("When the condition was last reported.").exactOptional(),
  lastTransitionTime: timestamp("When the status last changed.").exactOptional(),
  message: text("Human-readable details.").exactOptional(),
  reason: text("Reason of the last change, one word.").exactOptional(),
  status: text("True, False or Unknown."),
  type: text("Type of the condition."),
});

const historyEntrySchema = z.object({
  message: text("Description at that time, truncated if it is long.").exactOptional(),
  operation: text("Create, InPlaceUpdate, DrainNode, HealthCheck or Delete.").exactOptional(),
  outcome: text("Error code of a failure, or Failed, Processing or Successful.").exactOptional(),
  time: timestamp("When it was written.").exactOptional(),
});

const currentStatusSchema = z
  .object({
    lastUpdateTime: timestamp(
      "When the phase was last written; health and in-place timeouts run from it.",
    ).exactOptional(),
    phase: text(
      "Pending, Available, CrashLoopBackOff, Running, Unknown, Failed, Terminating, InPlaceUpdating, InPlaceUpdateSuccessful or InPlaceUpdateFailed; empty before the VM exists.",
    ).exactOptional(),
    preserveExpiryTime: timestamp("Until when the machine is preserved; unset when it is not.").exactOptional(),
    timeoutActive: flag("Whether the creation timeout runs.").exactOptional(),
  })
  .meta({ description: "Phase of the machine." });

const machineStatusSchema = z
  .object({
    addresses: z
      .array(nodeAddressSchema)
      .meta({ description: "Addresses of the VM; only without a target cluster." })
      .exactOptional(),
    conditions: z
      .array(nodeConditionSchema)
      .meta({ description: "Copy of the Node's conditions, and those of the machine; Ready is the kubelet's." })
      .exactOptional(),
    currentStatus: currentStatusSchema.exactOptional(),
    history: z
      .array(historyEntrySchema)
      .meta({ description: "The last attempts and errors, the oldest first; at most ten. Only written by Millwright." })
      .exactOptional(),
    joinDuration: text(
      "Go duration between the creation of the object and its first join. Only written by Millwright.",
    ).exactOptional(),
    lastKnownState: text("State that the driver stores about the VM.").exactOptional(),
    lastOperation: machineOperationSchema.exactOptional(),
  })
  .meta({ description: "Last observed state of the machine." });

/**
 * A Machine never gets another VM: the first one would be lost. The controllers remove the id of a VM that they have deleted. MCM sets the id once; only when the label `node` or the priority annotation was
 * removed does it write the driver's answer again, which is the same id (`pkg/util/provider/machinecontroller/machine.go` updateLabels).
 */
const keepsVm = {
  rule: "self == '' || oldSelf == '' || self.lowerAscii() == oldSelf.lowerAscii()",
  message: "spec.providerID cannot be changed to another VM; delete the Machine instead",
};

/** Schema of a Machine: source of its type, its CustomResourceDefinition and its reader. */
export const machineSchema = z
  .object({
    apiVersion: apiVersionField,
    kind: kindField,
    metadata: objectMetaSchema,
    spec: machineSpecSchema
      .extend({ providerID: providerIdField.meta({ "x-kubernetes-validations": [keepsVm] }).exactOptional() })
      .meta({ description: "Desired state of the machine." })
      .prefault({}),
    status: machineStatusSchema.exactOptional(),
  })
  .meta({ description: "A Machine is one VM and its Node." });

/** The resource `machines.machine.sapcloud.io`. */
export const machineResource = {
  group: machineGroup,
  version: "v1alpha1",
  kind: "Machine",
  plural: "machines",
  singular: "machine",
  shortNames: ["mc"],
  namespaced: true,
} as const;

/** One VM and the Node that it becomes. */
export type Machine = DeepReadonly<z.infer<typeof machineSchema>>;

/** Observed state of a machine. */
export type MachineStatus = DeepReadonly<z.infer<typeof machineStatusSchema>>;

/** Phase of a machine and since when. */
export type CurrentStatus = DeepReadonly<z.infer<typeof currentStatusSchema>>;

/** An address of a Node or VM. */
export type NodeAddress = DeepReadonly<z.infer<typeof nodeAddressSchema>>;

/** A condition of a Node, copied into the machine. */
export type NodeCondition = DeepReadonly<z.infer<typeof nodeConditionSchema>>;

/** One attempt or error in a machine's past. The field is ours; MCM's CustomResourceDefinition prunes it. */
export type MachineHistoryEntry = DeepReadonly<z.infer<typeof historyEntrySchema>>;
