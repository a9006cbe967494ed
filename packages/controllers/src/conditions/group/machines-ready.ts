import {
  clusterApiConditionTypes,
  clusterApiReasons as reasons,
  machineConditionTypes,
  storedMachineConditionTypes,
} from "@millwright/core/machine-api";
import { type ConditionState, aggregateConditions, findCondition } from "@millwright/kube";
import type { JudgedMachine } from "./judged-machine.ts";

/** Whether all machines are ready, and if not, which are not and why (Cluster API, `machinedeployment_status.go` and `util/conditions/aggregate.go`). */
export const machinesReady = (machines: readonly JudgedMachine[]): ConditionState =>
  aggregateConditions(
    machines.map(({ name, ready: condition }) => ({ kind: "Machine", name, condition })),
    {
      sourceType: machineConditionTypes.ready,
      type: clusterApiConditionTypes.machinesReady,
      reasons: { issue: reasons.notReady, unknown: reasons.readyUnknown, info: reasons.ready },
      emptyReason: reasons.noReplicas,
    },
  );

/** Why most of the machines are not ready that are not, in one word, as their own condition has it; of two the first by alphabet. */
export function causeOfUnready(machines: readonly JudgedMachine[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { ready, facts } of machines) {
    if (ready?.status === "True") continue;
    const stored = findCondition(facts.machine.status?.conditions, storedMachineConditionTypes.machineReady);
    if (stored?.reason === undefined || stored.status === "True") continue;
    counts.set(stored.reason, (counts.get(stored.reason) ?? 0) + 1);
  }
  const [first] = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return first?.[0];
}
