import { type SetSize, sum } from "./set-size.ts";

/** New `spec.replicas` by name of the set; sets that keep theirs are not in it. */
export type Sizes = ReadonlyMap<string, number>;

/** Bounds of a rollout, resolved to machines. */
export interface RolloutBounds {
  /** `spec.replicas` of the deployment. */
  readonly replicas: number;
  /** Machines allowed beyond `replicas`. */
  readonly maxSurge: number;
  /** Machines that may be missing from `replicas`. */
  readonly maxUnavailable: number;
}

/**
 * Machines that the new set may have. Room is measured by what each set has or is told to have, whichever is more, so that neither
 * machines that do not exist yet nor machines that are still going are counted twice or forgotten (F8).
 */
export function newSetReplicas(bounds: RolloutBounds, current: number, sets: readonly SetSize[]): number {
  if (current >= bounds.replicas) return bounds.replicas;
  const room = bounds.replicas + bounds.maxSurge - sum(sets.map(({ spec, existing }) => Math.max(spec, existing)));
  return Math.min(bounds.replicas, current + Math.max(0, room));
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
 * One step of a rolling update (machineset-machinedeployment.md, 16.1): the new set grows into the surge, then the old sets, oldest first,
 * give up machines that do not serve anyway, and then serving ones as far as the promise of availability allows.
 *
 * `oldSets` are ordered from oldest to newest. Never tells the sets to have more than `replicas + maxSurge` machines together, and never takes
 * an available machine below `replicas - maxUnavailable`.
 */
export function planRollingUpdate(bounds: RolloutBounds, newSet: SetSize, oldSets: readonly SetSize[]): Sizes {
  const sizes = new Map<string, number>();
  const newSize = newSetReplicas(bounds, newSet.spec, [newSet, ...oldSets]);
  if (newSize !== newSet.spec) sizes.set(newSet.name, newSize);

  const minAvailable = bounds.replicas - bounds.maxUnavailable;
  const newAvailable = Math.min(newSet.available, newSize);
  // What the old sets may give altogether: machines of the new set that do not serve yet are promised, not there.
  const budget = Math.max(0, sum(oldSets.map(({ spec }) => spec)) + newAvailable - minAvailable);
  const idle = (set: SetSize, size: number): number => Math.min(size, set.spec - set.available);
  takeFrom(oldSets, budget, sizes, idle);

  const taken = sum(oldSets.map((set) => set.spec - (sizes.get(set.name) ?? set.spec)));
  const spare = sum(oldSets.map(({ available }) => available)) + newAvailable - minAvailable;
  takeFrom(oldSets, Math.max(0, Math.min(spare, budget - taken)), sizes, (_, size) => size);
  return sizes;
}
