import {
  crdsEstablishedConditionType,
  type FieldProblem,
  legacyConditionTypes,
  legacyReasons,
  type MachineDeployment,
  type MachineDeploymentStatus,
} from "@millwright/core";
import { type Condition, type ConditionState, findCondition, removeCondition, setCondition } from "@millwright/kube";
import { specValidState } from "../conditions/spec-valid.ts";
import { frozenState } from "../safety/freeze-deployment.ts";
import { countMachines } from "../machine-lists/machine-counts.ts";
import { type Counters, progressOf } from "./progress.ts";
import { boundsOf } from "./state/rollout-bounds.ts";
import type { MachineDeploymentSnapshot } from "./state/snapshot.ts";
import { preservedFailures, countAvailable, type SetView, sum } from "./state/set-size.ts";

/** What the status of a deployment is computed from. */
export interface DeploymentFacts {
  readonly deployment: MachineDeployment;
  readonly newSet: SetView | undefined;
  /** Oldest first. */
  readonly oldSets: readonly SetView[];
  /** Name of the set that this reconcile creates. */
  readonly createdSet: string | undefined;
  /** Machines that may be unavailable; `undefined` while the spec is invalid. */
  readonly maxUnavailable: number | undefined;
  readonly problems: readonly FieldProblem[];
  /** What the rollout waits for, a clause each. Default: nothing. */
  readonly holds?: readonly string[] | undefined;
}

const viewsOf = ({ newSet, oldSets }: DeploymentFacts): readonly SetView[] =>
  newSet === undefined ? oldSets : [...oldSets, newSet];

const countersOf = (facts: DeploymentFacts): Counters => {
  const { newSet } = facts;
  const sets = viewsOf(facts);
  const available = sum(sets.map(countAvailable));
  return {
    // Terminating machines count: Gardener compares these with the number of Machine objects.
    replicas: sum(sets.map(({ machines }) => machines.length)),
    updatedReplicas: newSet?.machines.length ?? 0,
    readyReplicas: sum(sets.map(({ machines }) => countMachines(machines).ready)),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets.map(({ set }) => set.spec.replicas ?? 0)) - available),
  };
};

function availableState(
  { deployment, maxUnavailable }: DeploymentFacts,
  counters: Counters,
  preserved: number,
): ConditionState | undefined {
  if (maxUnavailable === undefined) return undefined;
  const needed = Math.max(0, (deployment.spec.replicas ?? 0) - maxUnavailable - preserved);
  const type = legacyConditionTypes.available;
  return counters.availableReplicas >= needed
    ? {
        type,
        status: "True",
        reason: legacyReasons.minimumReplicasAvailable,
        message: "Deployment has minimum availability.",
      }
    : {
        type,
        status: "False",
        reason: legacyReasons.minimumReplicasUnavailable,
        message: "Deployment does not have minimum availability.",
      };
}

/** The failure to create or delete machines that a set reports, the newest set first. */
function replicaFailureOf({ newSet, oldSets }: DeploymentFacts): ConditionState | undefined {
  for (const view of newSet === undefined ? oldSets : [newSet, ...oldSets]) {
    const found = findCondition(view.set.status?.machineSetCondition, legacyConditionTypes.replicaFailure);
    if (found?.status === "True")
      return { type: found.type, status: "True", reason: found.reason ?? "", message: found.message ?? "" };
  }
  return undefined;
}

function conditionsOf(facts: DeploymentFacts, counters: Counters, preserved: number, now: Date): readonly Condition[] {
  const { deployment, problems, newSet, createdSet } = facts;
  let conditions: readonly Condition[] = removeCondition(
    deployment.status?.conditions ?? [],
    crdsEstablishedConditionType,
  );
  const set = (state: ConditionState | undefined, touch = false): void => {
    if (state !== undefined) conditions = setCondition(conditions, state, { now, updateTime: true, touch });
  };
  set(availableState(facts, counters, preserved));
  if (problems.length === 0 && deployment.metadata.deletionTimestamp == null) {
    const progress = progressOf(
      {
        deployment,
        counters,
        newSet: newSet?.set.metadata.name ?? createdSet,
        isNewSetCreated: createdSet !== undefined,
        holds: facts.holds ?? [],
      },
      now,
    );
    set(progress?.state, progress?.touch);
  }
  const failure = replicaFailureOf(facts);
  set(failure);
  if (failure === undefined) conditions = removeCondition(conditions, legacyConditionTypes.replicaFailure);
  const frozen = frozenState(viewsOf(facts).map((view) => view.set));
  set(frozen);
  if (frozen === undefined) conditions = removeCondition(conditions, legacyConditionTypes.frozen);
  set(specValidState(problems, deployment.metadata.generation));
  return conditions;
}

/**
 * Status of a deployment, from the machines and sets that exist. `observedGeneration` is not updated while the spec is invalid:
 * it is the only sign of that which Gardener reads.
 */
export function machineDeploymentStatus(facts: DeploymentFacts, now: Date): MachineDeploymentStatus {
  const { deployment, problems } = facts;
  const { failedMachines: _, ...kept } = deployment.status ?? {};
  const views = viewsOf(facts);
  const failed = views.flatMap(({ set }) => set.status?.failedMachines ?? []);
  const counters = countersOf(facts);
  const preserved = sum(views.map(preservedFailures));
  return {
    ...kept,
    ...counters,
    preservedFailedReplicas: preserved,
    ...(failed.length > 0 ? { failedMachines: failed } : {}),
    ...(problems.length === 0 && deployment.metadata.generation !== undefined
      ? { observedGeneration: deployment.metadata.generation }
      : {}),
    conditions: conditionsOf(facts, counters, preserved, now),
  };
}

/** The status that goes with a snapshot. `createdSet` is the name of the set that this reconcile creates. */
export function statusOf(
  { deployment, problems, sets, limits }: MachineDeploymentSnapshot,
  createdSet: string | undefined,
  now: Date,
): MachineDeploymentStatus {
  const maxUnavailable = problems.length === 0 ? boundsOf(deployment).maxUnavailable : undefined;
  return machineDeploymentStatus(
    { deployment, ...sets, createdSet, maxUnavailable, problems, holds: limits.holds },
    now,
  );
}
