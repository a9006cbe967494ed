import { annotationKeys, labelKeys } from "@millwright/core/machine-api";
import { type InPlaceSet, planInPlaceUpdate, type Transfer } from "./in-place/plan-in-place.ts";
import { notedNumber, recoveredSize, type SetView, sizeOf, sum } from "./state/set-size.ts";
import { updatableSet } from "./in-place/updatable-set.ts";
import { hasFreezeLabel } from "../safety/freeze-set.ts";
import { expectedReplicasOf } from "../machine-set/expected-replicas.ts";
import { planRecreate } from "./sizes/plan-recreate.ts";
import { planRollingUpdate } from "./sizes/plan-rolling-update.ts";
import type { RolloutBounds, Sizes } from "./state/rollout-bounds.ts";
import { planScaling, type ScalableSet } from "./sizes/plan-scaling.ts";
import { isOnDelete } from "../model/on-delete.ts";
import type { Rollout } from "../model/rollout.ts";
import { allOf, type Sets } from "./state/sets.ts";
import type { MachineDeploymentSnapshot } from "./state/snapshot.ts";

/** One step of a rollout: the sizes of sets and, for an in-place update, the single machines. */
export interface RolloutStep {
  /** Only of sets whose size changes. */
  readonly sizes: Sizes;
  /** Machines that change sets. */
  readonly transfer: readonly Transfer[];
  /** Names of machines whose nodes may be drained and updated from now on. */
  readonly select: readonly string[];
}

/** While paused, a set is scaled once: what it does not get then, no step of a rollout gives it later. So only sizes count. */
const scalable = (view: SetView, isPaused: boolean, rollout?: Rollout): ScalableSet => ({
  ...recoveredSize(view),
  isSuperseded: rollout !== undefined && ![rollout.set, rollout.proven].includes(view.set.metadata.name),
  ...(isPaused ? { present: 0 } : {}),
  // A set that was recorded at 0 has no share.
  maxReplicas: notedNumber(view.set, annotationKeys.maxReplicas) || undefined,
});

const isTerminating = ({ set }: SetView): boolean => set.metadata.deletionTimestamp != null;

/** Whether `spec.replicas` changed since an active set was scaled. */
function isResized({ deployment, sets }: MachineDeploymentSnapshot): boolean {
  const replicas = deployment.spec.replicas ?? 0;
  return allOf(sets).some(
    (view) =>
      !isTerminating(view) &&
      sizeOf(view).spec > 0 &&
      (notedNumber(view.set, annotationKeys.desiredReplicas) ?? replicas) !== replicas,
  );
}

/**
 * Whether this reconcile only scales: while the deployment is paused, and when its size changed. Scaling comes before the next step of a rollout
 * (MCM, `pkg/controller/deployment_sync.go` isScalingEvent). A changed template without a set yet comes before both.
 */
export function isScalingOnly(snapshot: MachineDeploymentSnapshot): boolean {
  return snapshot.deployment.spec.paused === true || (snapshot.sets.newSet !== undefined && isResized(snapshot));
}

/** Whether the sets are to shrink: more is created by the new set alone in an in-place update, and where machines are replaced on deletion. */
const isLess = (bounds: RolloutBounds, sets: Sets): boolean =>
  sum(allOf(sets).map((view) => recoveredSize(view).spec)) > bounds.replicas + bounds.maxSurge;

/**
 * Of the added replicas, the new set gets no more than its gates allow; that of the proven template gets the rest. The surge is not
 * used: it is for replacements, and a gated rollout would delete these machines again at once.
 */
function withinLimits(sizes: Sizes, replicas: number, snapshot: MachineDeploymentSnapshot): Sizes {
  const { maxNew } = snapshot.limits;
  const { newSet, oldSets } = snapshot.sets;
  const olds = oldSets.map(recoveredSize);
  const old = olds.findLast(({ name, spec }) => spec > 0 || name === snapshot.rollout?.proven);
  if (newSet === undefined || maxNew === undefined || old === undefined) return sizes;
  const { name, spec } = recoveredSize(newSet);
  const size = sizes.get(name) ?? spec;
  const most = Math.max(maxNew, spec);
  if (size <= most) return sizes;
  const rest = Math.max(0, replicas - most - sum(olds.map((each) => each.spec)));
  return new Map([...sizes, [name, most], [old.name, old.spec + Math.min(rest, size - most)]]);
}

/** The sizes without growth that would exceed the surge: machines of terminating sets use quota until they are deleted. */
function besideTerminating(sizes: Sizes, { replicas, maxSurge }: RolloutBounds, sets: Sets): Sizes {
  const views = allOf(sets);
  const leaving = sum(views.filter(isTerminating).map(({ machines }) => machines.length));
  if (leaving === 0) return sizes;
  const remaining = views.filter((view) => !isTerminating(view)).map(recoveredSize);
  const planned = remaining.map(({ name, spec }) => ({ name, spec, size: sizes.get(name) ?? spec }));
  const excess = Math.max(0, leaving + sum(planned.map(({ size }) => size)) - replicas - maxSurge);
  return new Map(planned.map(({ name, spec, size }) => [name, Math.min(size, Math.max(spec, size - excess))]));
}

/** Replaces what active sets lack together in the newest of them: the current one, if it is active. */
const refill = (replicas: number, active: readonly ScalableSet[]): Sizes => {
  const missing = replicas - sum(active.map(({ spec }) => spec));
  return new Map(missing <= 0 ? [] : active.slice(-1).map(({ name, spec }) => [name, spec + missing]));
};

const only = (sizes: Sizes): RolloutStep => ({ sizes, transfer: [], select: [] });

/** The sizes where only the replicas count. */
function planReplicas(snapshot: MachineDeploymentSnapshot, bounds: RolloutBounds): RolloutStep {
  const { deployment, sets, rollout } = snapshot;
  const isPaused = deployment.spec.paused === true;
  const scalables = allOf(sets).map((view) => scalable(view, isPaused, rollout));
  const active = scalables.filter(({ spec }) => spec > 0);
  const current = sets.newSet === undefined ? undefined : scalable(sets.newSet, isPaused);
  // No new template is started while paused, not even when the last machines of the others are lost.
  const latest =
    active.length > 0
      ? undefined
      : scalables[allOf(sets).findLastIndex((view) => !isTerminating(view) && sizeOf(view).spec > 0)];
  const proven = scalables.find(({ name }) => name === rollout?.proven);
  const grower = isPaused && current?.spec === 0 ? (latest ?? proven) : current;
  // While a rollout is paused, its free surge is used for machines of neither template.
  const sizes =
    active.length > 1 && !isResized(snapshot)
      ? refill(bounds.replicas, active)
      : planScaling(bounds, grower, scalables);
  return only(besideTerminating(withinLimits(sizes, bounds.replicas, snapshot), bounds, sets));
}

/** Whether no old set replaces machines that move to the new set. A pause may have allowed that. */
const isScaleUpDisabled = ({ oldSets }: Sets): boolean =>
  oldSets.every(
    ({ set, machines }) => machines.length === 0 || set.metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined,
  );

/** The sizes of sets that shrink because the deployment did, while machines are to be restored. The missing ones count: a set whose size would leave them out would not wait for them any more. */
export function planReductions({ sets, rollout }: MachineDeploymentSnapshot, bounds: RolloutBounds): Sizes {
  const scalables = allOf(sets)
    .filter((view) => !isTerminating(view))
    .map((view) => ({ ...scalable(view, true, rollout), ...sizeOf(view), present: 0 }));
  const sizes = planScaling(bounds, undefined, scalables);
  return new Map([...sizes].filter(([name, size]) => scalables.some((set) => set.name === name && size < set.spec)));
}

/**
 * The sizes of sets that wait for machines and shrank with the deployment, which has grown since: without their place, machines that are restored would be deleted as surplus.
 * At most those that a set had: until they are there it creates none.
 */
export function planAwaited({ sets }: MachineDeploymentSnapshot, { replicas }: RolloutBounds): Sizes {
  const views = allOf(sets).filter((view) => !isTerminating(view));
  let room = Math.max(0, replicas - sum(views.map((view) => sizeOf(view).spec)));
  const sizes = new Map<string, number>();
  for (const view of views) {
    const { spec } = sizeOf(view);
    const size = Math.min(expectedReplicasOf(view.set) ?? 0, spec + room);
    if (size <= spec) continue;
    sizes.set(view.set.metadata.name, size);
    room -= size - spec;
  }
  return sizes;
}

/** The sizes by the strategy, where they differ from the recovered ones. */
function planStep(
  snapshot: MachineDeploymentSnapshot,
  bounds: RolloutBounds,
  now: Date,
): RolloutStep | "create the new set" {
  const { deployment, sets, limits } = snapshot;
  const { newSet, oldSets } = sets;
  const strategy = deployment.spec.strategy?.type;
  const isRolling = newSet !== undefined && deployment.spec.paused !== true;
  const isInPlace = strategy === "InPlaceUpdate" && isRolling;
  const growsNewSet = isInPlace || (isOnDelete(deployment) && isRolling);
  if (isScalingOnly(snapshot) && !(growsNewSet && !isLess(bounds, sets))) return planReplicas(snapshot, bounds);
  const newSize = newSet === undefined ? undefined : recoveredSize(newSet);
  const oldSizes = oldSets.map(recoveredSize);
  if (strategy === "Recreate") {
    if (!limits.mayStart && oldSizes.some(({ spec }) => spec > 0)) return only(new Map());
    const sizes = planRecreate(bounds.replicas, newSize, oldSizes);
    return sizes === "create the new set" ? sizes : only(sizes);
  }
  if (newSize === undefined) return "create the new set";
  if (!isInPlace) return only(planRollingUpdate(bounds, newSize, oldSizes, limits));
  const selects = deployment.spec.strategy?.inPlaceUpdate?.orchestrationType === "Auto" && limits.mayStart;
  // A machine beyond the replicas starts a replacement; one for a deleted machine does not.
  const maxSurge = limits.mayStart ? bounds.maxSurge : 0;
  const updatable = (view: SetView): InPlaceSet => updatableSet(view, snapshot.nodes, newSize.name, now);
  const planned = planInPlaceUpdate(
    { ...bounds, maxSurge, selects, isHeld: !limits.mayStart },
    updatable(newSet),
    oldSets.map(updatable),
    !hasFreezeLabel(deployment),
  );
  // The sets are marked first.
  return planned.transfer.length > 0 && !isScaleUpDisabled(sets) ? only(new Map()) : planned;
}

/** Completes a step by what is recovered. While frozen a set grows only by recovery or by a hand-over, which create no machines. */
function withRecovered(snapshot: MachineDeploymentSnapshot, step: RolloutStep): RolloutStep {
  const isFrozen = hasFreezeLabel(snapshot.deployment);
  const sizes = allOf(snapshot.sets).flatMap((view): [string, number][] => {
    const { name } = view.set.metadata;
    if (isTerminating(view)) return [];
    const recovered = recoveredSize(view).spec;
    const planned = step.sizes.get(name) ?? recovered;
    const received = step.transfer.filter(({ to }) => to === name).length;
    const size = isFrozen ? Math.min(planned, recovered + received) : planned;
    return size === (view.set.spec.replicas ?? 0) ? [] : [[name, size]];
  });
  return { ...step, sizes: new Map(sizes) };
}

/** The sizes of the sets after this reconcile, or that the set of the current template is to be created first. */
export function planSizes(
  snapshot: MachineDeploymentSnapshot,
  bounds: RolloutBounds,
  now: Date,
): RolloutStep | "create the new set" {
  const step = planStep(snapshot, bounds, now);
  return step === "create the new set" ? step : withRecovered(snapshot, step);
}

/** The sizes of the sets where the rollout waits, as while paused. */
export const planPausedSizes = (snapshot: MachineDeploymentSnapshot, bounds: RolloutBounds): RolloutStep =>
  withRecovered(snapshot, planReplicas(snapshot, bounds));
