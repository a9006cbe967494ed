import {
  clusterApiConditionTypes,
  clusterApiReasons as reasons,
  machineConditionTypes,
} from "@millwright/core/machine-api";
import { type ConditionState, aggregateConditions, shortenNames } from "@millwright/kube";
import type { JudgedMachine } from "./judged-machine.ts";

const type = clusterApiConditionTypes.remediating;

/** Names of unhealthy machines that are preserved. */
function keptText(kept: readonly JudgedMachine[]): string {
  if (kept.length === 0) return "";
  const names = shortenNames(kept.map(({ name }) => name));
  const subject = kept.length === 1 ? `Machine ${names} is` : `Machines ${names} are`;
  return `${subject} not healthy (not to be remediated by MachineDeployment/MachineSet)`;
}

/** Whether machines are being remediated (Cluster API, `machinedeployment_status.go`). */
export function remediating(machines: readonly JudgedMachine[]): ConditionState {
  const going = machines.filter(({ remediation }) => remediation?.status === "False");
  if (going.length === 0) {
    const message = keptText(machines.filter(({ isUnhealthy }) => isUnhealthy));
    return { type, status: "False", reason: reasons.notRemediating, message };
  }
  const { message } = aggregateConditions(
    going.map(({ name, remediation: condition }) => ({ kind: "Machine", name, condition })),
    {
      sourceType: machineConditionTypes.ownerRemediated,
      type,
      resultPolarity: "negative",
      reasons: { issue: reasons.remediating, unknown: reasons.remediating, info: reasons.notRemediating },
      emptyReason: reasons.notRemediating,
    },
  );
  return { type, status: "True", reason: reasons.remediating, message };
}
