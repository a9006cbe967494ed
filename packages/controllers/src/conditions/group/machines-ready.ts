import { clusterApiConditionTypes, clusterApiReasons as reasons, machineConditionTypes } from "@millwright/core";
import { type ConditionState, aggregateConditions } from "@millwright/kube";
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
