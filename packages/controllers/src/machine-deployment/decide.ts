import {
  annotationKeys,
  eventReasons,
  type FieldProblem,
  finalizers,
  formatProblems,
  type Machine,
  type MachineDeployment,
  type MachineDeploymentStatus,
  type MachineSet,
  resolveFenceposts,
} from "@millwright/core";
import type { Claims } from "@millwright/kube";
import { findCondition } from "../conditions/set-condition.ts";
import { specValidState } from "../conditions/spec-valid.ts";
import { type Decision, earliest, type Reason } from "../decision.ts";
import { findNewSet, oldestFirst } from "./find-new-set.ts";
import { surplusHistory } from "./history.ts";
import { machineSetPatch, newMachineSet } from "./machine-set-shape.ts";
import { planRecreate } from "./plan-recreate.ts";
import { planRollback } from "./plan-rollback.ts";
import { newSetReplicas, planRollingUpdate, type RolloutBounds, type Sizes } from "./plan-rolling-update.ts";
import { planScaling, type ScalableSet } from "./plan-scaling.ts";
import { isComplete, untilDeadline } from "./progress.ts";
import { newRevision, revisionOf } from "./revision.ts";
import { type SetView, sizeOf } from "./set-size.ts";
import { machineDeploymentStatus } from "./status.ts";

/** What a pass over a MachineDeployment sees. */
export interface MachineDeploymentSnapshot {
  /** With defaults filled in. */
  readonly deployment: MachineDeployment;
  readonly claim: Claims<MachineSet>;
  /** Machines by the UID of the set that controls them. */
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
  /** What is wrong with the spec; empty when it can be followed. */
  readonly problems: readonly FieldProblem[];
}

/** Everything that a MachineDeployment does to the world. */
export type MachineDeploymentAction =
  | { readonly kind: "AddFinalizer" }
  | { readonly kind: "RemoveFinalizer" }
  | { readonly kind: "AdoptMachineSet"; readonly name: string }
  | { readonly kind: "ReleaseMachineSet"; readonly name: string }
  | { readonly kind: "CreateMachineSet"; readonly set: MachineSet }
  | { readonly kind: "PatchMachineSet"; readonly name: string; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "DeleteMachineSet"; readonly name: string; readonly uid: string }
  | { readonly kind: "PatchDeployment"; readonly patch: Readonly<Record<string, unknown>> };

type MachineDeploymentDecision = Decision<MachineDeploymentAction, MachineDeploymentStatus>;

/** The sets of a deployment, sorted into the one of the current template and the others, oldest first. */
interface Sets {
  readonly newSet: SetView | undefined;
  readonly oldSets: readonly SetView[];
}

function viewSets({ deployment, claim, machines }: MachineDeploymentSnapshot): Sets {
  const view = (set: MachineSet): SetView => ({ set, machines: machines.get(set.metadata.uid ?? "") ?? [] });
  const newSet = findNewSet(deployment, claim.owned);
  return {
    newSet: newSet === undefined ? undefined : view(newSet),
    oldSets: oldestFirst(claim.owned.filter((set) => set !== newSet)).map(view),
  };
}

/** Surge and unavailability in machines. Only a rolling update has a surge; Recreate promises nothing while it runs. */
function boundsOf({ spec }: MachineDeployment): RolloutBounds {
  const replicas = spec.replicas ?? 0;
  if (spec.strategy?.type !== "RollingUpdate") return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge, maxUnavailable } = spec.strategy.rollingUpdate ?? {};
  return { replicas, ...resolveFenceposts({ replicas, maxSurge: maxSurge ?? 0, maxUnavailable: maxUnavailable ?? 0 }) };
}

const hasFinalizer = (deployment: MachineDeployment): boolean =>
  deployment.metadata.finalizers?.includes(finalizers.machine) === true;

const deletionOf = ({ metadata }: MachineSet): MachineDeploymentAction => ({
  kind: "DeleteMachineSet",
  name: metadata.name,
  uid: metadata.uid ?? "",
});

/** A deployment on its way out takes its sets with it and waits for the last; its spec no longer matters. */
function decideDeletion(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim } = snapshot;
  if (!hasFinalizer(deployment)) return { actions: [], because: [] };
  if (claim.owned.length === 0) return { actions: [{ kind: "RemoveFinalizer" }], because: [] };
  const actions = oldestFirst(claim.owned)
    .filter(({ metadata }) => metadata.deletionTimestamp == null)
    .map(deletionOf);
  return { actions, status: statusOf(snapshot, viewSets(snapshot), undefined, now), because: [] };
}

const statusOf = (
  { deployment, problems }: MachineDeploymentSnapshot,
  { newSet, oldSets }: Sets,
  createdSet: string | undefined,
  now: Date,
): MachineDeploymentStatus => {
  const maxUnavailable = problems.length === 0 ? boundsOf(deployment).maxUnavailable : undefined;
  return machineDeploymentStatus({ deployment, newSet, oldSets, createdSet, maxUnavailable, problems }, now);
};

/** One reason when the spec turns invalid, or invalid in another way; none in the passes that find it so. */
function refusalOf({ deployment, problems }: MachineDeploymentSnapshot): readonly Reason[] {
  const state = specValidState(problems, deployment.metadata.generation);
  const before = findCondition(deployment.status?.conditions, state.type);
  if (before?.status === "False" && before.message === state.message) return [];
  return [{ type: "Warning", reason: eventReasons.invalidSpec, message: formatProblems(problems) }];
}

/** Numbers noted on a set at its last scaling; `undefined` when missing or unreadable. */
const notedNumber = (set: MachineSet, key: string): number | undefined => {
  const text = set.metadata.annotations?.[key] ?? "";
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
};

/** Whether `spec.replicas` changed since an active set was told its size: scaling comes before going on with a rollout (14.1). */
function isScalingEvent({ deployment }: MachineDeploymentSnapshot, { newSet, oldSets }: Sets): boolean {
  if (newSet === undefined) return false;
  const active = [...oldSets, newSet].filter(({ set }) => (set.spec.replicas ?? 0) > 0);
  const replicas = deployment.spec.replicas ?? 0;
  if (active.length === 0) return replicas > 0;
  return active.some(({ set }) => (notedNumber(set, annotationKeys.desiredReplicas) ?? replicas) !== replicas);
}

const scalable = (view: SetView): ScalableSet => ({
  ...sizeOf(view),
  maxReplicas: notedNumber(view.set, annotationKeys.maxReplicas) || undefined,
});

/** What the sets are told to have after this pass, or that the set of the current template is to be made first. */
function planSizes(
  snapshot: MachineDeploymentSnapshot,
  sets: Sets,
  bounds: RolloutBounds,
): Sizes | "create the new set" {
  const { deployment } = snapshot;
  const { newSet, oldSets } = sets;
  if (deployment.spec.paused === true || isScalingEvent(snapshot, sets)) {
    const all = [...oldSets, ...(newSet === undefined ? [] : [newSet])].map(scalable);
    return planScaling(
      bounds,
      newSet === undefined ? undefined : scalable(newSet),
      all,
      deployment.status?.replicas ?? 0,
    );
  }
  const oldSizes = oldSets.map(sizeOf);
  if (deployment.spec.strategy?.type === "Recreate") {
    return planRecreate(bounds.replicas, newSet === undefined ? undefined : sizeOf(newSet), oldSizes);
  }
  return newSet === undefined ? "create the new set" : planRollingUpdate(bounds, sizeOf(newSet), oldSizes);
}

/** Creates the set of the current template, as large as the strategy lets it be from the start. */
function decideCreation(
  snapshot: MachineDeploymentSnapshot,
  sets: Sets,
  bounds: RolloutBounds,
  now: Date,
): MachineDeploymentDecision {
  const { deployment } = snapshot;
  const replicas =
    deployment.spec.strategy?.type === "Recreate"
      ? bounds.replicas
      : newSetReplicas(bounds, 0, sets.oldSets.map(sizeOf));
  const set = newMachineSet(deployment, replicas, newRevision(sets.oldSets.map((view) => view.set)), bounds);
  const { name } = set.metadata;
  return {
    actions: [{ kind: "CreateMachineSet", set }],
    status: statusOf(snapshot, sets, name, now),
    because: replicas > 0 ? [scaled("up", name, replicas)] : [],
  };
}

const scaled = (direction: "up" | "down", name: string, replicas: number): Reason => ({
  type: "Normal",
  reason: eventReasons.scalingMachineSet,
  message: `Scaled ${direction} machine set ${name} to ${replicas}`,
});

/** One patch per set that is to be scaled or has fallen behind its deployment, and the deployment's own revision. */
function decideSets(
  snapshot: MachineDeploymentSnapshot,
  sets: Sets,
  sizes: Sizes,
  bounds: RolloutBounds,
  now: Date,
): MachineDeploymentDecision {
  const { deployment } = snapshot;
  const { newSet, oldSets } = sets;
  const actions: MachineDeploymentAction[] = [];
  const because: Reason[] = [];
  const isScaling = isScalingEvent(snapshot, sets);
  const revision = newRevision(oldSets.map(({ set }) => set));
  for (const { set } of [...oldSets, ...(newSet === undefined ? [] : [newSet])]) {
    const replicas = sizes.get(set.metadata.name);
    const patch = machineSetPatch({
      set,
      replicas,
      bounds,
      isScaled: isScaling && (set.spec.replicas ?? 0) > 0,
      ...(set === newSet?.set && deployment.spec.paused !== true ? { follow: { deployment, revision } } : {}),
    });
    if (patch !== undefined) actions.push({ kind: "PatchMachineSet", name: set.metadata.name, patch });
    if (replicas !== undefined && replicas !== (set.spec.replicas ?? 0)) {
      because.push(scaled(replicas > (set.spec.replicas ?? 0) ? "up" : "down", set.metadata.name, replicas));
    }
  }
  const newest = newSet === undefined ? 0 : Math.max(revision, revisionOf(newSet.set));
  if (newest > 0 && revisionOf(deployment) !== newest && deployment.spec.paused !== true) {
    actions.push({
      kind: "PatchDeployment",
      patch: { metadata: { annotations: { [annotationKeys.revision]: String(newest) } } },
    });
  }
  const status = statusOf(snapshot, sets, undefined, now);
  const {
    replicas = 0,
    updatedReplicas = 0,
    readyReplicas = 0,
    availableReplicas = 0,
    unavailableReplicas = 0,
  } = status;
  const counters = { replicas, updatedReplicas, readyReplicas, availableReplicas, unavailableReplicas };
  if (newSet !== undefined && isComplete(deployment, counters)) {
    actions.push(...surplusHistory(deployment, oldSets).map(({ set }) => deletionOf(set)));
  }
  return { actions, status, because };
}

/** Follows the spec: rollback first, then scaling or the strategy's next step. */
function decideRollout(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim } = snapshot;
  const rollback = deployment.spec.paused === true ? undefined : planRollback(deployment, claim.owned);
  if (rollback !== undefined) {
    return { actions: [{ kind: "PatchDeployment", patch: rollback.patch }], because: [rollback.because] };
  }
  const sets = viewSets(snapshot);
  const bounds = boundsOf(deployment);
  const sizes = planSizes(snapshot, sets, bounds);
  return sizes === "create the new set"
    ? decideCreation(snapshot, sets, bounds, now)
    : decideSets(snapshot, sets, sizes, bounds, now);
}

/**
 * Decides the next step of a MachineDeployment. Deletion comes before validation, so that an object that became invalid can still go
 * (machineset-machinedeployment.md, F4); sets are claimed before anything is counted.
 */
export function decideMachineDeployment(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim, problems } = snapshot;
  if (deployment.metadata.deletionTimestamp != null) return decideDeletion(snapshot, now);
  if (problems.length > 0) {
    return {
      actions: [],
      status: statusOf(snapshot, viewSets(snapshot), undefined, now),
      because: refusalOf(snapshot),
    };
  }
  if (!hasFinalizer(deployment)) return { actions: [{ kind: "AddFinalizer" }], because: [] };
  if (claim.adopt.length > 0 || claim.release.length > 0) {
    const adopt = claim.adopt.map(({ metadata }): MachineDeploymentAction => ({
      kind: "AdoptMachineSet",
      name: metadata.name,
    }));
    const release = claim.release.map(({ metadata }): MachineDeploymentAction => ({
      kind: "ReleaseMachineSet",
      name: metadata.name,
    }));
    return { actions: [...adopt, ...release], because: [] };
  }
  const decision = decideRollout(snapshot, now);
  const wakeAfterMs = earliest(untilDeadline(deployment, now));
  return wakeAfterMs === undefined ? decision : { ...decision, wakeAfterMs };
}
