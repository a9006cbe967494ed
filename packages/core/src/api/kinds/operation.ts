import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { text, timestamp } from "../schema/fields.ts";

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

/** A failed machine in the status of a set or deployment. */
export type MachineSummary = DeepReadonly<z.infer<typeof machineSummarySchema>>;
