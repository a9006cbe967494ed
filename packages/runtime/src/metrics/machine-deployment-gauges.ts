import {
  type MachineDeployment,
  machineDeploymentMetricNames as names,
  parseIntOrPercent,
  resolveFenceposts,
  type ResolvedFenceposts,
  strategyTypeOf,
} from "@millwright/core/machine-api";
import type { ObjectGauge } from "./object-gauges.ts";
import { conditionGauge, createdAt, failedMachinesGauge, infoGauge, numberGauge } from "./samples.ts";

/** A counter of the status; what was never written is 0, as in MCM. */
const counter = (
  name: string,
  field: "availableReplicas" | "unavailableReplicas" | "readyReplicas" | "updatedReplicas" | "replicas",
): ObjectGauge<MachineDeployment> =>
  numberGauge(name, `status.${field} of MachineDeployments.`, ({ status }) => status?.[field] ?? 0);

/**
 * Limits of a rolling update in machines; undefined for another strategy, and for limits that validation rejects: 0 would be
 * a lie. MCM shows a percentage as 0 and crashes without `rollingUpdate`.
 */
function rollingLimits({ spec }: MachineDeployment): ResolvedFenceposts | undefined {
  if (strategyTypeOf(spec.strategy) !== "RollingUpdate") return undefined;
  const { maxSurge = 1, maxUnavailable = 0 } = spec.strategy?.rollingUpdate ?? {};
  const isReadable = [maxSurge, maxUnavailable].every((limit) => (parseIntOrPercent(limit)?.amount ?? -1) >= 0);
  return isReadable ? resolveFenceposts({ replicas: spec.replicas ?? 0, maxSurge, maxUnavailable }) : undefined;
}

/** Gauges of each MachineDeployment. */
export const machineDeploymentGauges: readonly ObjectGauge<MachineDeployment>[] = [
  infoGauge<MachineDeployment>(names.info, "MachineDeployments, with their strategy; always 1.", {
    createdAt,
    spec_strategy_type: ({ spec }) => strategyTypeOf(spec.strategy),
  }),
  numberGauge(names.specPaused, "Whether rollouts of MachineDeployments are paused.", ({ spec }) =>
    Number(spec.paused ?? false),
  ),
  numberGauge(names.specReplicas, "spec.replicas of MachineDeployments.", ({ spec }) => spec.replicas ?? 0),
  numberGauge(
    names.specMinReadySeconds,
    "spec.minReadySeconds of MachineDeployments.",
    ({ spec }) => spec.minReadySeconds ?? 0,
  ),
  numberGauge(
    names.specMaxSurge,
    "Surge of rolling updates in machines.",
    (deployment) => rollingLimits(deployment)?.maxSurge,
  ),
  numberGauge(
    names.specMaxUnavailable,
    "Machines that may be unavailable in rolling updates.",
    (deployment) => rollingLimits(deployment)?.maxUnavailable,
  ),
  numberGauge(
    names.specRevisionHistoryLimit,
    "spec.revisionHistoryLimit of MachineDeployments that have one.",
    ({ spec }) => spec.revisionHistoryLimit,
  ),
  numberGauge(
    names.specProgressDeadlineSeconds,
    "spec.progressDeadlineSeconds of MachineDeployments that have one.",
    ({ spec }) => spec.progressDeadlineSeconds,
  ),
  numberGauge(
    names.specRollbackToRevision,
    "Revision of a requested rollback of MachineDeployments; 0 is the previous one.",
    ({ spec }) => spec.rollbackTo && (spec.rollbackTo.revision ?? 0),
  ),
  conditionGauge(names.condition, ({ status }) => status?.conditions),
  counter(names.availableReplicas, "availableReplicas"),
  counter(names.unavailableReplicas, "unavailableReplicas"),
  counter(names.readyReplicas, "readyReplicas"),
  counter(names.updatedReplicas, "updatedReplicas"),
  counter(names.replicas, "replicas"),
  numberGauge(
    names.collisionCount,
    "How often the name of a new set of a MachineDeployment was taken.",
    ({ status }) => status?.collisionCount,
  ),
  failedMachinesGauge(names.failedMachines, ({ status }) => status?.failedMachines),
];
