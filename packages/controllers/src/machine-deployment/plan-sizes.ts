import { annotationKeys, type MachineSet } from "@millwright/core";
import { planRecreate } from "./plan-recreate.ts";
import { planRollingUpdate, type RolloutBounds, type Sizes } from "./plan-rolling-update.ts";
import { planScaling, type ScalableSet } from "./plan-scaling.ts";
import { type SetView, sizeOf } from "./set-size.ts";
import { allOf, type MachineDeploymentSnapshot, type Sets } from "./snapshot.ts";

/** Numbers noted on a set at its last scaling; `undefined` when missing or unreadable. */
const notedNumber = (set: MachineSet, key: string): number | undefined => {
  const text = set.metadata.annotations?.[key] ?? "";
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
};

const scalable = (view: SetView): ScalableSet => ({
  ...sizeOf(view),
  // Shares of nothing cannot be computed: a set that was noted at 0 does not know its share.
  maxReplicas: notedNumber(view.set, annotationKeys.maxReplicas) || undefined,
});

/**
 * Whether this pass only scales: while the deployment is paused, and when `spec.replicas` changed since an active set was told its size. Scaling comes
 * before going on with a rollout (machineset-machinedeployment.md, 14.1). A changed template without a set yet comes before both.
 */
export function isScalingPass({ deployment }: MachineDeploymentSnapshot, sets: Sets): boolean {
  if (deployment.spec.paused === true) return true;
  if (sets.newSet === undefined) return false;
  const replicas = deployment.spec.replicas ?? 0;
  return allOf(sets).some(
    ({ set }) =>
      (set.spec.replicas ?? 0) > 0 && (notedNumber(set, annotationKeys.desiredReplicas) ?? replicas) !== replicas,
  );
}

/** What the sets are told to have after this pass, or that the set of the current template is to be made first. */
export function planSizes(
  snapshot: MachineDeploymentSnapshot,
  sets: Sets,
  bounds: RolloutBounds,
): Sizes | "create the new set" {
  const { deployment } = snapshot;
  const { newSet, oldSets } = sets;
  if (isScalingPass(snapshot, sets)) {
    const newSize = newSet === undefined ? undefined : scalable(newSet);
    return planScaling(bounds, newSize, allOf(sets).map(scalable));
  }
  const newSize = newSet === undefined ? undefined : sizeOf(newSet);
  const oldSizes = oldSets.map(sizeOf);
  if (deployment.spec.strategy?.type === "Recreate") return planRecreate(bounds.replicas, newSize, oldSizes);
  return newSize === undefined ? "create the new set" : planRollingUpdate(bounds, newSize, oldSizes);
}
