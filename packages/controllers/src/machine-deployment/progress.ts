import {
  legacyConditionTypes,
  legacyReasons,
  type MachineDeployment,
  type MachineDeploymentStatus,
  writeRefusedReason,
} from "@millwright/core/machine-api";
import { type ConditionState, findCondition } from "@millwright/kube";

/** The counters that measure the progress of a rollout. */
export type Counters = Required<
  Pick<
    MachineDeploymentStatus,
    "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas" | "unavailableReplicas"
  >
>;

/** What the condition `Progressing` is computed from. */
export interface ProgressFacts {
  readonly deployment: MachineDeployment;
  readonly counters: Counters;
  /** Name of the set of the current template; `undefined` while there is none. */
  readonly newSet: string | undefined;
  /** The set is created in this reconcile. */
  readonly isNewSetCreated: boolean;
  /** What the rollout waits for as configured, a clause each. Default: nothing. */
  readonly holds?: readonly string[];
  /** Why no set of the current template may be created. Default: it may. */
  readonly blocksCreation?: string | undefined;
}

/** A new state of `Progressing`; `touch` renews its update time even when nothing else changed. */
export interface Progress {
  readonly state: ConditionState;
  readonly touch: boolean;
}

const type = legacyConditionTypes.progressing;

/** Reasons with which nothing is in progress. */
const resting: ReadonlySet<string> = new Set([legacyReasons.newMachineSetAvailable, legacyReasons.deploymentPaused]);

/** Starts the list of what a rollout waits for in the message of `Progressing`. */
const WAITS = " waits: ";

/** All machines are of the current template, none is missing, none is left over (MCM, `pkg/controller/deployment_util.go` MachineDeploymentComplete). */
export const isComplete = (
  deployment: MachineDeployment,
  counters: Pick<MachineDeploymentStatus, "replicas" | "updatedReplicas" | "availableReplicas">,
): boolean => {
  const wanted = deployment.spec.replicas ?? 0;
  return counters.updatedReplicas === wanted && counters.replicas === wanted && counters.availableReplicas === wanted;
};

/**
 * Milliseconds until the progress deadline passes; `undefined` without a deadline, or when nothing is in progress. A pause does not count: resuming
 * renews the time of the condition.
 */
export function untilDeadline(deployment: MachineDeployment, now: Date): number | undefined {
  const seconds = deployment.spec.progressDeadlineSeconds;
  const condition = findCondition(deployment.status?.conditions, type);
  if (seconds === undefined || condition?.lastUpdateTime == null || condition.status === "False") return undefined;
  if (resting.has(condition.reason ?? "") || condition.message?.includes(WAITS) === true) return undefined;
  return Date.parse(condition.lastUpdateTime) + seconds * 1000 - now.getTime();
}

const hasAdvanced = (
  before: MachineDeploymentStatus | undefined,
  { updatedReplicas, replicas, readyReplicas, availableReplicas }: Counters,
): boolean =>
  updatedReplicas > (before?.updatedReplicas ?? 0) ||
  replicas - updatedReplicas < (before?.replicas ?? 0) - (before?.updatedReplicas ?? 0) ||
  readyReplicas > (before?.readyReplicas ?? 0) ||
  availableReplicas > (before?.availableReplicas ?? 0);

/** `Progressing` while the deployment is paused or just resumed; never over an exceeded deadline (MCM, `pkg/controller/deployment_sync.go` checkPausedConditions). */
function pauseState(
  deployment: MachineDeployment,
  before: { readonly reason?: string } | undefined,
): ConditionState | undefined {
  if (before?.reason === legacyReasons.progressDeadlineExceeded) return undefined;
  if (deployment.spec.paused === true) {
    return { type, status: "Unknown", reason: legacyReasons.deploymentPaused, message: "Deployment is paused" };
  }
  return before?.reason === legacyReasons.deploymentPaused
    ? { type, status: "Unknown", reason: legacyReasons.deploymentResumed, message: "Deployment is resumed" }
    : undefined;
}

/**
 * The new state of `Progressing`, or `undefined` when it does not change (MCM, `pkg/controller/deployment_progress.go` syncRolloutStatus). The cluster-autoscaler
 * shrinks a deployment only when it reads `NewMachineSetAvailable` here, so every rollout must end there.
 */
export function progressOf(facts: ProgressFacts, now: Date): Progress | undefined {
  const { deployment, counters, newSet } = facts;
  const before = findCondition(deployment.status?.conditions, type);
  const pause = pauseState(deployment, before);
  if (pause !== undefined) return { state: pause, touch: false };
  if (deployment.spec.paused === true) return undefined;

  const subject = newSet === undefined ? `Machine Deployment "${deployment.metadata.name}"` : `MachineSet "${newSet}"`;
  const progressing = (status: "True" | "False", reason: string, message: string, touch = false): Progress => ({
    state: { type, status, reason, message },
    touch,
  });
  if (facts.blocksCreation !== undefined)
    return progressing("False", legacyReasons.machineSetCreateError, facts.blocksCreation);
  if (facts.isNewSetCreated)
    return progressing("True", legacyReasons.newMachineSetCreated, `Created new machine set "${newSet ?? ""}"`);
  if (isComplete(deployment, counters)) {
    return progressing("True", legacyReasons.newMachineSetAvailable, `${subject} has successfully progressed.`);
  }
  const wasAtRest = before?.reason === legacyReasons.newMachineSetAvailable;
  // A machine that failed after the rollout does not start a new one.
  if (wasAtRest && counters.replicas === counters.updatedReplicas) return undefined;
  // A configured wait is not a delay, and Gardener treats anything but True as a failure. The deadline restarts after the wait.
  const { holds = [] } = facts;
  if (holds.length > 0)
    return progressing("True", legacyReasons.machineSetUpdated, `${subject}${WAITS}${holds.join("; ")}`);
  // Back to a template with an existing set, or with Recreate, a rollout starts without the creation of a set. The autoscaler must not consider it complete.
  const isOver = before?.reason === writeRefusedReason || before?.message?.includes(WAITS) === true;
  if (wasAtRest || isOver || hasAdvanced(deployment.status, counters))
    return progressing("True", legacyReasons.machineSetUpdated, `${subject} is progressing.`, true);
  if ((untilDeadline(deployment, now) ?? 1) <= 0) {
    return progressing("False", legacyReasons.progressDeadlineExceeded, `${subject} has timed out progressing.`);
  }
  if (before === undefined && newSet !== undefined) {
    return progressing("True", legacyReasons.foundNewMachineSet, `Found new machine set "${newSet}"`);
  }
  return undefined;
}
