import { type MachineDeployment, rolloutHoldReasons as reasons } from "@millwright/core/machine-api";
import { apiTime, cutText } from "@millwright/kube";
import { holdOn } from "../../model/hold.ts";
import { canaryGates, readCanarySteps } from "./canary-steps.ts";
import { hasOldMachines, isReturnFromFailure } from "./canary-failure.ts";
import { recoveredSize, sum } from "../state/set-size.ts";
import { inPlaceBudget } from "./in-place-budget.ts";
import { openingAt, readWindows } from "./maintenance-window.ts";
import { manualSelection } from "./manual-selection.ts";
import { settlingMachines } from "./min-ready.ts";
import { releasedSetsGate } from "./released-sets.ts";
import { isOnDelete } from "../../model/on-delete.ts";
import { type RolloutGates, intersectGates, unlimited } from "../state/rollout-gates.ts";
import { isReturn, type Rollout } from "../../model/rollout.ts";
import { rolloutOf } from "../state/rollout.ts";
import { provenLast, type Sets, sortSets } from "../state/sets.ts";
import type { MachineDeploymentSnapshot, ObservedDeployment } from "../state/snapshot.ts";

/**
 * No replacement starts, and those in progress complete: the new set may have the replicas that the old ones lack, so that no machine is missing after
 * a window closes.
 */
const noneBegins = ({ spec }: MachineDeployment, { oldSets }: Sets): number =>
  Math.max(0, (spec.replicas ?? 0) - sum(oldSets.map((view) => recoveredSize(view).spec)));

/** The gates of a rollout that waits for `hold`: none of its replacements begins. */
function waitingFor(deployment: MachineDeployment, sets: Sets, hold: string, reason: string): RolloutGates {
  const isRolling = (deployment.spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
  return isRolling
    ? { mayStart: true, maxNew: noneBegins(deployment, sets), isClosed: true, holds: [hold], reason }
    : { mayStart: false, holds: [hold], reason };
}

function windowLimits(deployment: MachineDeployment, sets: Sets, now: Date): RolloutGates {
  const read = readWindows(deployment);
  // Invalid windows were rejected by the validation.
  const { isOpen, changesAt } = openingAt(read.ok ? read.windows : [], now);
  const requeue = changesAt === undefined ? {} : { requeueAt: changesAt };
  if (isOpen) return { mayStart: true, ...requeue };
  const hold =
    changesAt === undefined
      ? "Rollout waits for a maintenance window, but none opens again"
      : `Rollout waits for the maintenance window that opens at ${apiTime(changesAt)}`;
  return { ...waitingFor(deployment, sets, hold, reasons.windowClosed), ...requeue };
}

/** The gate of a template from whose class no machine can be made: no sound machine makes place for one. */
function classLimits({ deployment, unusableClass }: ObservedDeployment, sets: Sets): RolloutGates {
  if (unusableClass === undefined) return unlimited;
  const { problem, until } = unusableClass;
  // A class may have many problems.
  const why = cutText(problem);
  const hold = `Rollout waits for MachineClass ${deployment.spec.template.spec.class?.name ?? ""}: ${why}`;
  // Not a wait on purpose: the progress deadline runs.
  const waits = { ...waitingFor(deployment, sets, hold, reasons.classUnusable), availabilityHolds: [hold] };
  return { ...waits, ...(until === undefined ? {} : { requeueAt: until }) };
}

const onDeleteLimits = (deployment: MachineDeployment, sets: Sets): RolloutGates => ({
  mayStart: true,
  maxNew: noneBegins(deployment, sets),
  isClosed: true,
  holds: ["Old machines are replaced only when they are deleted"],
  reason: reasons.onDelete,
});

/** The gates of the steps: a return to the proven template has none. */
function stepGates(deployment: MachineDeployment, { newSet }: Sets, rollout: Rollout, now: Date): RolloutGates {
  const read = readCanarySteps(deployment);
  const steps = read.ok && !isReturn(rollout) ? read.steps : [];
  return steps.length === 0 ? unlimited : canaryGates(deployment, steps, newSet, rollout, now);
}

/**
 * The gates of a rollout now, from the annotations of the deployment: canary steps, replacement on deletion only, maintenance windows. There are none without a
 * rollout in progress and after a rollback from a failed template, and no steps for a return to the proven template. Replacements after a deletion by a user wait for no
 * window.
 */
function limitsOfRollout(
  observed: ObservedDeployment,
  sets: Sets,
  rollout: Rollout | undefined,
  now: Date,
): RolloutGates {
  const { deployment, problems, isSpecValid } = observed;
  if (deployment.metadata.deletionTimestamp != null || !isSpecValid || rollout === undefined) return unlimited;
  // How many machines of the new template are allowed is not known: it gets no more.
  if (problems.length > 0) return { mayStart: false, maxNew: 0, steps: "ahead" };
  // The steps count also where the proven template has no machines for now, as in a pool that was scaled to none.
  if (!hasOldMachines(sets)) return stepGates(deployment, sets, rollout, now);
  const held = holdOn(observed.heldBy, "replacement");
  if (held !== undefined) return waitingFor(deployment, sets, held.message, reasons.nodesUnread);
  const ofClass = classLimits(observed, sets);
  if (isReturnFromFailure(rollout, sets)) return ofClass;
  if (isOnDelete(deployment)) return intersectGates([ofClass, onDeleteLimits(deployment, sets)]);
  return intersectGates([
    ofClass,
    stepGates(deployment, sets, rollout, now),
    windowLimits(deployment, sets, now),
    manualSelection(observed, sets),
    inPlaceBudget(observed, sets),
  ]);
}

/**
 * The snapshot of what was read: the sets, with the machines that do not count as available yet, the rollout that is under way, and its gates at that time.
 */
export function withGates(observed: ObservedDeployment, now: Date): MachineDeploymentSnapshot {
  const { deployment, claim, machines, released = [] } = observed;
  const { names, nextAt } = settlingMachines(deployment, machines.values(), now);
  const byAge = sortSets(deployment, claim.owned, machines, names);
  const rollout = rolloutOf(deployment, byAge, now);
  const sets = provenLast(byAge, rollout?.proven);
  const settles = nextAt === undefined ? unlimited : { ...unlimited, requeueAt: nextAt };
  const creation = sets.newSet === undefined ? releasedSetsGate(released, now) : unlimited;
  const limits = intersectGates([limitsOfRollout(observed, sets, rollout, now), settles, creation]);
  return { ...observed, sets, limits, ...(rollout === undefined ? {} : { rollout }) };
}
