import {
  clusterApiConditionTypes,
  clusterApiReasons as reasons,
  machineConditionTypes,
} from "@millwright/core/machine-api";
import { timeOf } from "../machine/facts.ts";
import { type ConditionState, aggregateConditions } from "@millwright/kube";
import type { JudgedMachine } from "./judged-machine.ts";

/** How long a machine without the condition is ignored, milliseconds (Cluster API, `machinedeployment_status.go` setMachinesUpToDateCondition). */
const newMachineMs = 10_000;

const createdAt = ({ facts }: JudgedMachine): number | undefined => timeOf(facts.machine.metadata.creationTimestamp);

/** Milliseconds until a machine without the condition counts; 0 for one that counts. */
export function untilCounted(machine: JudgedMachine, now: Date): number {
  if (machine.upToDate !== undefined) return 0;
  return Math.max(0, (createdAt(machine) ?? 0) + newMachineMs + 1 - now.getTime());
}

/** Whether all machines are of the current template, and if not, which are not, and in what (Cluster API, `machinedeployment_status.go` and `machinedeployment_rollout_planner.go`). */
export const machinesUpToDate = (machines: readonly JudgedMachine[], now: Date): ConditionState =>
  aggregateConditions(
    machines
      .filter((machine) => untilCounted(machine, now) === 0)
      .map(({ name, upToDate: condition }) => ({ kind: "Machine", name, condition })),
    {
      sourceType: machineConditionTypes.upToDate,
      type: clusterApiConditionTypes.machinesUpToDate,
      reasons: { issue: reasons.notUpToDate, unknown: reasons.upToDateUnknown, info: reasons.upToDate },
      emptyReason: reasons.noReplicas,
    },
  );
