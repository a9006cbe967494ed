import type { RolloutBounds, Sizes } from "../state/rollout-bounds.ts";
import { type RolloutGates, unlimited } from "../state/rollout-gates.ts";
import { type SetSize, sum } from "../state/set-size.ts";

/**
 * Machines that the new set may have. Room is measured by what each set has or is told to have, whichever is more, so that neither
 * machines that do not exist yet nor machines that are still going are counted twice or forgotten.
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

/** Machines that the old sets keep whatever serves: those that the new set may not replace yet. */
function keptByLimits({ replicas }: RolloutBounds, newSet: SetSize, { maxNew }: RolloutGates): number {
  return maxNew === undefined ? 0 : Math.max(0, replicas - Math.max(maxNew, newSet.spec));
}

/**
 * What the old sets give up, oldest first: machines that do not serve anyway, and then serving ones as far as the promise of availability allows. An
 * available machine is never taken below `replicas - maxUnavailable`.
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
  // What the old sets may give altogether: machines of the new set that do not serve yet are promised, not there.
  const budget = Math.max(0, Math.min(oldTotal + newAvailable - minAvailable, oldTotal - kept));
  const idle = (set: SetSize, size: number): number => Math.min(size, set.spec - set.available);
  takeFrom(oldSets, budget, sizes, idle);

  // Where all that do not serve are given up, what is left of the budget is what the promise leaves of those that do; else it is nothing.
  const taken = sum(oldSets.map((set) => set.spec - (sizes.get(set.name) ?? set.spec)));
  takeFrom(oldSets, budget - taken, sizes, (_, size) => size);
  return sizes;
}

/**
 * One step of a rolling update (MCM, `pkg/controller/deployment_rolling.go` rolloutRolling): the new set grows into the surge, the old sets give up what it replaces.
 *
 * `oldSets` are ordered from oldest to newest. Never tells the sets to have more than `replicas + maxSurge` machines together.
 *
 * @param limits what else holds the rollout back; whatever they say, a new set that is too large shrinks
 */
export function planRollingUpdate(
  bounds: RolloutBounds,
  newSet: SetSize,
  oldSets: readonly SetSize[],
  limits: RolloutGates = unlimited,
): Sizes {
  const newSize = newSetReplicas(bounds, newSet.spec, [newSet, ...oldSets], limits);
  const grown: [string, number][] = newSize === newSet.spec ? [] : [[newSet.name, newSize]];
  if (!limits.mayStart) return new Map(grown);
  const kept = keptByLimits(bounds, newSet, limits);
  return new Map([...grown, ...shrinkOldSets(bounds, { ...newSet, spec: newSize }, oldSets, kept)]);
}
