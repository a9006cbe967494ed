import type { MachineSet, MachineSetStatus } from "@millwright/core/machine-api";
import { withSummaryOfHeld } from "../conditions/group/summary.ts";
import { withRefusedWrite } from "../model/refused-write.ts";

/**
 * The status of a set whose reconcile fails since the API server refuses a write.
 *
 * @param decided the status without regard to that
 */
export const refusedSetStatus = (
  decided: MachineSetStatus | undefined,
  { metadata: { generation }, status: before }: MachineSet,
  text: string,
  now: Date,
): MachineSetStatus => {
  const status = decided ?? before;
  const stored = before?.machineSetCondition;
  const conditions = withRefusedWrite({ conditions: status?.machineSetCondition ?? [], stored }, text, { now });
  const options = { now, generation, updateTime: false };
  return { ...status, machineSetCondition: withSummaryOfHeld(conditions, stored, options) };
};
