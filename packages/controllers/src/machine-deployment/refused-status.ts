import {
  legacyConditionTypes,
  type MachineDeployment,
  type MachineDeploymentStatus,
  writeRefusedReason,
} from "@millwright/core/machine-api";
import { type ConditionState, findCondition } from "@millwright/kube";
import { withSummaryOfHeld } from "../conditions/group/summary.ts";
import { withRefusedWrite } from "../model/refused-write.ts";

/** Nothing advances while a write is refused. A pause and an exceeded deadline are kept. */
function progressState({ status }: MachineDeployment, message: string): readonly ConditionState[] {
  const type = legacyConditionTypes.progressing;
  const before = findCondition(status?.conditions, type);
  const isAdvancing = before === undefined || before.status === "True" || before.reason === writeRefusedReason;
  return isAdvancing ? [{ type, status: "False", reason: writeRefusedReason, message }] : [];
}

/**
 * The status of a deployment whose reconcile fails since the API server refuses a write.
 *
 * @param decided the status without regard to that
 */
export function refusedDeploymentStatus(
  decided: MachineDeploymentStatus | undefined,
  deployment: MachineDeployment,
  text: string,
  now: Date,
): MachineDeploymentStatus {
  const { status: stored, metadata } = deployment;
  const status = decided ?? stored;
  const lists = { conditions: status?.conditions ?? [], stored: stored?.conditions };
  const options = { now, updateTime: true };
  const conditions = withRefusedWrite(lists, text, options, (message) => progressState(deployment, message));
  const { generation } = metadata;
  return { ...status, conditions: withSummaryOfHeld(conditions, stored?.conditions, { ...options, generation }) };
}
