import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { atomicList, flag, int32, text, timestamp } from "../schema/fields.ts";

/** Schema of `lastOperation`. */
export const lastOperationSchema = z
  .object({
    description: text(
      "What happened, for people; during deletion it ends with the marker of the next stage.",
    ).exactOptional(),
    errorCode: text("Name of the machine error code of a failed creation or initialization.").exactOptional(),
    lastUpdateTime: timestamp("When the operation was last updated.").exactOptional(),
    state: text("Processing, Failed or Successful.").exactOptional(),
    type: text("Create, Update, InPlaceUpdate, DrainNode, HealthCheck or Delete.").exactOptional(),
  })
  .meta({ description: "The last operation on the machine, and its result." });

const attemptsSchema = z
  .object({
    count: int32("Number of failed attempts."),
    firstTime: text("When the first one failed, RFC 3339.").exactOptional(),
    lastTime: text("When the last one failed, RFC 3339.").exactOptional(),
    pauseSeconds: int32("How long after the last one the next follows at the earliest, seconds.").exactOptional(),
  })
  .meta({ description: "Attempts of a call that fails again and again." });

const drainCauseSchema = z.object({
  reason: text("What the drain waits for, one word."),
  subject: text("The PodDisruptionBudgets or finalizers that a user has to change.").exactOptional(),
});

const operationDetailsSchema = z
  .object({
    attempts: attemptsSchema.exactOptional(),
    causes: atomicList(
      drainCauseSchema,
      "What a drain in progress waits for, as far as it is reported.",
    ).exactOptional(),
    code: text("Name of the machine error code of a failed call.").exactOptional(),
    heldBack: flag("Whether the call was not made, since its credential is refused.").exactOptional(),
    deletionHold: text(
      "Why the deletion does not go on before a person acts: DeletionsHeld, DeletionProtected or CRDDeleted.",
    ).exactOptional(),
    hold: text("Why the machine is not replaced: Budget, Outage, ZoneOutage or ApiServerUnreachable.").exactOptional(),
    message: text("Message of the driver, in the words of its first report.").exactOptional(),
    nodeName: text("Name of the Node that the reason is about.").exactOptional(),
    otherVolumes: int32("Number of attached volumes that are not listed.").exactOptional(),
    reason: text("What happened, one word.").exactOptional(),
    stage: text("Stage of the deletion that runs next.").exactOptional(),
    time: timestamp(
      "lastUpdateTime of the operation that this is about; with another one, it is ignored.",
    ).exactOptional(),
    unreachableNode: text("Name of the unreachable Node that was not drained.").exactOptional(),
    volumes: atomicList(z.string(), "Volumes that are still attached after the drain; the first five.").exactOptional(),
    zone: text("Zone of the outage.").exactOptional(),
  })
  .meta({ description: "What the description reports, for the controllers. Only written by Millwright." });

/** Schema of the `lastOperation` of a Machine. The details are ours: sets and deployments copy the rest only. */
export const machineOperationSchema = lastOperationSchema
  .extend({ details: operationDetailsSchema.exactOptional() })
  .meta({ description: "The last operation on the machine, and its result." });

const machineSummarySchema = z.object({
  lastOperation: lastOperationSchema.exactOptional(),
  name: text("Name of the machine.").exactOptional(),
  ownerRef: text("Name of the machine's MachineSet.").exactOptional(),
  providerID: text("Id of the VM.").exactOptional(),
});

/** Schema of `status.failedMachines`. */
export const failedMachinesSchema = z
  .array(machineSummarySchema)
  .meta({ description: "Machines whose last operation failed. Absent when there are none." });

/** The last operation on a machine. Values of `type` and `state`: see operationTypes and operationStates. */
export type LastOperation = DeepReadonly<z.infer<typeof lastOperationSchema>>;

/** The details of a last operation as they are stored: `reason`, `stage`, `hold` and the causes of a drain may be those of a later version. */
export type StoredOperationDetails = DeepReadonly<z.infer<typeof operationDetailsSchema>>;

/** A failed machine in the status of a set or deployment. */
export type MachineSummary = DeepReadonly<z.infer<typeof machineSummarySchema>>;
