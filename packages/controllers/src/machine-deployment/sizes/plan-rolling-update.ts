import type { RolloutBounds, Sizes } from "../state/rollout-bounds.ts";
import { type RolloutGates, unlimited } from "../state/rollout-gates.ts";
import { type SetSize, sum } from "../state/set-size.ts";

/**
 * Replicas that the new set may have. Each set counts with its existing or its desired machines, whichever is more, so that neither
 * pending nor terminating machines are counted twice or missed.
 */
export function newSetReplicas(
  bounds: RolloutBounds,
  current: number,
  sets: readonly SetSize[],
  limits: RolloutGates = unlimited,
): number {
  if (current >= bounds.replicas) return bounds.replicas;
  if (!limits.mayStart) return current;
  const room = bounds.replicas + bounds.maxSurge - sum(sets.map(({ spec, existing }) => Math.max(spec, existing)));
  const most = Math.max(current, Math.min(bounds.replicas, limits.maxNew ?? bounds.replicas));
  return Math.min(most, current + Math.max(0, room));
}

/** Takes up to `budget` from the sets in order, each giving what `give` allows; returns the sizes left. */
function takeFrom(
  sets: readonly SetSize[],
  budget: number,
  sizes: Map<string, number>,
  give: (set: SetSize, size: number) => number,
): void {
  let left = budget;
  for (const set of sets) {
    const size = sizes.get(set.name) ?? set.spec;
    const taken = Math.max(0, Math.min(left, give(set, size)));
    if (taken > 0) sizes.set(set.name, size - taken);
    left -= taken;
  }
}

/**
 * Machines of the new set that are there, whatever its `spec.replicas`, and needed: a scale-down that was undone before they were deleted keeps them. Growing by one at a time would
 * delete some of them meanwhile.
 */
function keptMachines(
  { replicas, maxSurge }: RolloutBounds,
  { spec, present = 0 }: SetSize,
  oldSets: readonly SetSize[],
  { mayStart, maxNew = replicas }: RolloutGates,
): number {
  if (!mayStart || spec >= replicas) return 0;
  const used = sum(oldSets.map((old) => Math.max(old.spec, old.existing)));
  return Math.min(present, replicas, maxNew, replicas + maxSurge - used);
}

/** Machines that the old sets keep in any case: those that the new set may not replace yet. */
function keptByLimits({ replicas }: RolloutBounds, newSet: SetSize, { maxNew }: RolloutGates): number {
  return maxNew === undefined ? 0 : Math.max(0, replicas - Math.max(maxNew, newSet.spec));
}

/**
 * Machines that the set of the proven template, the last of the old ones, is to have while steps are ahead of the new one: all that the new set may not replace yet. It takes the place of superseded templates.
 * `undefined` where it only gives.
 */
function provenTarget(
  oldSets: readonly SetSize[],
  kept: number,
  { steps, isClosed }: RolloutGates,
): number | undefined {
  return steps === "ahead" && isClosed !== true && oldSets.length > 0 ? kept : undefined;
}

/** The old sets after the last of them has grown to its target, as far as there is room. */
function withProvenGrown(
  { replicas, maxSurge }: RolloutBounds,
  newSet: SetSize,
  oldSets: readonly SetSize[],
  target: number,
): readonly SetSize[] {
  const room = replicas + maxSurge - sum([newSet, ...oldSets].map(({ spec, existing }) => Math.max(spec, existing)));
  return oldSets.map((set, index) =>
    index < oldSets.length - 1 ? set : { ...set, spec: Math.max(set.spec, Math.min(target, set.spec + room)) },
  );
}

/**
 * Scales down the old sets, in order: machines that do not serve, and then serving ones within `maxUnavailable`. Available
 * machines never fall below `replicas - maxUnavailable`.
 *
 * @param kept machines that the old sets keep together. Default: none
 * @param lastKept machines that the last of them keeps. Default: none
 */
export function shrinkOldSets(
  bounds: RolloutBounds,
  newSet: Pick<SetSize, "spec" | "available">,
  oldSets: readonly SetSize[],
  kept = 0,
  lastKept = 0,
): Sizes {
  const sizes = new Map<string, number>();
  const minAvailable = bounds.replicas - bounds.maxUnavailable;
  const newAvailable = Math.min(newSet.available, newSet.spec);
  const oldTotal = sum(oldSets.map(({ spec }) => spec));
  const last = oldSets.at(-1)?.name;
  const surplus = ({ name }: SetSize, size: number): number => size - (name === last ? lastKept : 0);
  // What the old sets may lose in total: machines of the new set that do not serve yet do not count.
  const budget = Math.min(oldTotal + newAvailable - minAvailable, oldTotal - kept);
  takeFrom(oldSets, budget, sizes, (set, size) => Math.min(surplus(set, size), set.spec - set.available));

  const taken = sum(oldSets.map((set) => set.spec - (sizes.get(set.name) ?? set.spec)));
  const servingBeyond = sum(oldSets.map(({ available }) => available)) + newAvailable - minAvailable;
  takeFrom(oldSets, Math.min(budget - taken, servingBeyond), sizes, surplus);
  return sizes;
}

/**
 * One step of a rolling update (MCM, `pkg/controller/deployment_rolling.go` rolloutRolling): the new set grows into the surge, the old sets shrink by what it replaces.
 *
 * `oldSets` are in the order in which they shrink, that of the proven template last. Never scales the sets to more than `replicas + maxSurge` machines in total.
 *
 * @param limits the gates of the rollout; a new set that is too large shrinks in any case
 */
export function planRollingUpdate(
  bounds: RolloutBounds,
  newSet: SetSize,
  oldSets: readonly SetSize[],
  limits: RolloutGates = unlimited,
): Sizes {
  const newSize = Math.max(
    newSetReplicas(bounds, newSet.spec, [newSet, ...oldSets], limits),
    keptMachines(bounds, newSet, oldSets, limits),
  );
  const sizes = new Map<string, number>(newSize === newSet.spec ? [] : [[newSet.name, newSize]]);
  if (!limits.mayStart) return sizes;
  const grown = { ...newSet, spec: newSize };
  const kept = keptByLimits(bounds, newSet, limits);
  const target = provenTarget(oldSets, kept, limits);
  const olds = target === undefined ? oldSets : withProvenGrown(bounds, grown, oldSets, target);
  for (const [index, { name, spec }] of olds.entries()) if (spec !== oldSets[index]?.spec) sizes.set(name, spec);
  for (const [name, size] of shrinkOldSets(bounds, grown, olds, kept, target)) sizes.set(name, size);
  return sizes;
}
