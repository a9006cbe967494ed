import {
  type FieldProblem,
  legacyConditionTypes,
  legacyReasons,
  type MachineDeployment,
} from "@millwright/core/machine-api";
import { type Condition, type ConditionState, findCondition, removeCondition, setCondition } from "@millwright/kube";
import { holdStates } from "../guards/owner-guards.ts";
import type { Hold } from "../model/hold.ts";
import { withHolds } from "../model/hold-condition.ts";
import { specValidState } from "../conditions/spec-valid.ts";
import { type Counters, progressOf } from "./progress.ts";
import type { SetView } from "./state/set-size.ts";

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
  /** What is held of the deployment. Default: nothing. */
  readonly heldBy?: readonly Hold[] | undefined;
  /** What the rollout waits for, a clause each. Default: nothing. */
  readonly holds?: readonly string[] | undefined;
  /** Why no set of the current template may be created. Default: it may. */
  readonly blocksCreation?: string | undefined;
}

/** All sets, oldest first. */
export const viewsOf = ({ newSet, oldSets }: DeploymentFacts): readonly SetView[] =>
  newSet === undefined ? oldSets : [...oldSets, newSet];

/** Whether enough machines are available: all but those that may be unavailable during a rollout. */
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

/** The conditions that MCM has, SpecValid, and those of others unchanged (MCM, `pkg/controller/deployment_sync.go` calculateStatus). */
export function mcmConditions(
  facts: DeploymentFacts,
  counters: Counters,
  preserved: number,
  now: Date,
): readonly Condition[] {
  const { deployment, problems, newSet, createdSet, heldBy } = facts;
  let conditions: readonly Condition[] = deployment.status?.conditions ?? [];
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
        blocksCreation: facts.blocksCreation,
      },
      now,
    );
    set(progress?.state, progress?.touch);
  }
  const failure = replicaFailureOf(facts);
  set(failure);
  if (failure === undefined) conditions = removeCondition(conditions, legacyConditionTypes.replicaFailure);
  const sets = viewsOf(facts).map((view) => view.set);
  conditions = withHolds(conditions, holdStates(heldBy, sets), { now, updateTime: true });
  set(specValidState(problems, deployment.metadata.generation));
  return conditions;
}
