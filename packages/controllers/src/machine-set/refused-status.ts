import type { MachineSetStatus } from "@millwright/core";
import { withRefusedWrite } from "../model/refused-write.ts";

/**
 * The status of a set whose reconcile fails since the API server refuses a write.
 *
 * @param decided the status without regard to that
 * @param stored the status before
 */
export const refusedSetStatus = (
  decided: MachineSetStatus | undefined,
  stored: MachineSetStatus | undefined,
  text: string,
  now: Date,
): MachineSetStatus => {
  const status = decided ?? stored;
  const lists = { conditions: status?.machineSetCondition ?? [], stored: stored?.machineSetCondition };
  return { ...status, machineSetCondition: withRefusedWrite(lists, text, { now }) };
};
