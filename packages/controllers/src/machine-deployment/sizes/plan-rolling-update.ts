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
 * Scales down the old sets, the oldest first: machines that do not serve, and then serving ones within `maxUnavailable`. Available
 * machines never fall below `replicas - maxUnavailable`.
 */
export function shrinkOldSets(
  bounds: RolloutBounds,
  newSet: Pick<SetSize, "spec" | "available">,
  oldSets: readonly SetSize[],
  kept = 0,
): Sizes {
  const sizes = new Map<string, number>();
  const minAvailable = bounds.replicas - bounds.maxUnavailable;
  const newAvailable = Math.min(newSet.available, newSet.spec);
  const oldTotal = sum(oldSets.map(({ spec }) => spec));
  // What the old sets may lose in total: machines of the new set that do not serve yet do not count.
  const budget = Math.max(0, Math.min(oldTotal + newAvailable - minAvailable, oldTotal - kept));
  const idle = (set: SetSize, size: number): number => Math.min(size, set.spec - set.available);
  takeFrom(oldSets, budget, sizes, idle);

  // When all machines that do not serve are deleted, the rest of the budget is for those that do; otherwise nothing is left.
  const taken = sum(oldSets.map((set) => set.spec - (sizes.get(set.name) ?? set.spec)));
  takeFrom(oldSets, budget - taken, sizes, (_, size) => size);
  return sizes;
}

/**
 * One step of a rolling update (MCM, `pkg/controller/deployment_rolling.go` rolloutRolling): the new set grows into the surge, the old sets shrink by what it replaces.
 *
 * `oldSets` are ordered from oldest to newest. Never scales the sets to more than `replicas + maxSurge` machines in total.
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
  const grown: [string, number][] = newSize === newSet.spec ? [] : [[newSet.name, newSize]];
  if (!limits.mayStart) return new Map(grown);
  const kept = keptByLimits(bounds, newSet, limits);
  return new Map([...grown, ...shrinkOldSets(bounds, { ...newSet, spec: newSize }, oldSets, kept)]);
}
