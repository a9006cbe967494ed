import type { MachineDeployment } from "@millwright/core";
import { apiTime } from "../../model/set-condition.ts";
import { canaryGates } from "./canary.ts";
import { isRollbackFromFailedCanary, isRevert, isUnderWay } from "./canary-failure.ts";
import { readCanarySteps } from "./canary-steps.ts";
import { recoveredSize } from "../state/recovered-size.ts";
import { openingAt, readWindows } from "./maintenance-window.ts";
import { manualSelection } from "./manual-selection.ts";
import { settlingMachines } from "./min-ready.ts";
import { isOnDelete } from "../state/on-delete.ts";
import { type RolloutGates, intersectGates, unlimited } from "../state/rollout-gates.ts";
import { sum } from "../state/set-size.ts";
import { type MachineDeploymentSnapshot, type Sets, viewSets } from "../state/snapshot.ts";

/**
 * No replacement begins, and those that have begun come to their end: the new set may have what the old ones do not, so that a closing window leaves no
 * machine missing.
 */
const noneBegins = ({ spec }: MachineDeployment, { oldSets }: Sets): number =>
  Math.max(0, (spec.replicas ?? 0) - sum(oldSets.map((view) => recoveredSize(view).spec)));

function windowLimits(deployment: MachineDeployment, sets: Sets, now: Date): RolloutGates {
  const read = readWindows(deployment);
  // What cannot be read was refused before anything is planned.
  const { isOpen, changesAt } = openingAt(read.ok ? read.windows : [], now);
  const wake = changesAt === undefined ? {} : { requeueAt: changesAt };
  if (isOpen) return { mayStart: true, ...wake };
  const hold =
    changesAt === undefined
      ? "Rollout waits for a maintenance window, and none opens any more"
      : `Rollout waits for the maintenance window that opens at ${apiTime(changesAt)}`;
  const isRolling = (deployment.spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
  return isRolling
    ? { mayStart: true, maxNew: noneBegins(deployment, sets), holds: [hold], ...wake }
    : { mayStart: false, holds: [hold], ...wake };
}

const onDeleteLimits = (deployment: MachineDeployment, sets: Sets): RolloutGates => ({
  mayStart: true,
  maxNew: noneBegins(deployment, sets),
  holds: ["Old machines are replaced only when somebody deletes them"],
});

/**
 * How far the rollout of a deployment may go now, by what its annotations ask for: canary steps, replacement on deletion only, maintenance windows. Without a
 * rollout under way, and back from a template that failed, nothing limits it; back to the template that it began with, no steps do. A decision about someone's own deletion is no choice of ours: it waits for no
 * window.
 */
function limitsOfRollout(snapshot: MachineDeploymentSnapshot, now: Date): RolloutGates {
  const { deployment, problems } = snapshot;
  if (deployment.metadata.deletionTimestamp != null || problems.length > 0) return unlimited;
  const sets = viewSets(snapshot);
  if (!isUnderWay(sets) || isRollbackFromFailedCanary(sets)) return unlimited;
  if (isOnDelete(deployment)) return onDeleteLimits(deployment, sets);
  const read = readCanarySteps(deployment);
  const steps = read.ok && !isRevert(sets) ? read.steps : [];
  return intersectGates([
    ...(steps.length === 0 ? [] : [canaryGates(deployment, steps, sets.newSet, now)]),
    windowLimits(deployment, sets, now),
    manualSelection(snapshot, sets),
  ]);
}

/** The snapshot with the machines that do not count yet, and the limits that hold for its rollout at that time. */
export function withGates(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentSnapshot {
  const { names, nextAt } = settlingMachines(snapshot.deployment, snapshot.machines.values(), now);
  const seen = { ...snapshot, settling: names };
  const settles = nextAt === undefined ? unlimited : { ...unlimited, requeueAt: nextAt };
  return { ...seen, limits: intersectGates([limitsOfRollout(seen, now), settles]) };
}
