import type { RolloutBounds, Sizes } from "../state/rollout-bounds.ts";
import { type SetSize, sum } from "../state/set-size.ts";

/** A set and what was recorded when it was last scaled. */
export interface ScalableSet extends SetSize {
  /** `replicas + maxSurge` of the deployment at that time; `undefined` when it was not recorded. */
  readonly maxReplicas: number | undefined;
  /** Whether its template is neither the current nor the proven one: it shrinks first. Default: not. */
  readonly isSuperseded?: boolean;
}

/** Go rounds halves away from zero. */
const round = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

/** Shares a reduction among the active sets in proportion to their size; what rounding leaves falls on the largest. */
function shrinkInProportion(bounds: RolloutBounds, active: readonly ScalableSet[], surplus: number): Sizes {
  const total = bounds.replicas + bounds.maxSurge;
  const current = sum(active.map(({ spec }) => spec));
  const largestFirst = active.toSorted((a, b) => b.spec - a.spec);
  const sizes = new Map<string, number>();
  let removed = 0;
  for (const set of largestFirst) {
    const fraction =
      bounds.replicas === 0 ? -set.spec : round((set.spec * total) / (set.maxReplicas ?? current)) - set.spec;
    const change = Math.min(0, Math.max(fraction, -(surplus - removed), -set.spec));
    removed -= change;
    sizes.set(set.name, set.spec + change);
  }
  for (const [name, size] of sizes) {
    const rest = Math.min(surplus - removed, size);
    sizes.set(name, size - rest);
    removed += rest;
  }
  return sizes;
}

/** Takes a reduction from superseded sets, the oldest first, and shares the rest among the others. */
function shrinkSupersededFirst(bounds: RolloutBounds, active: readonly ScalableSet[], surplus: number): Sizes {
  const sizes = new Map<string, number>();
  let rest = surplus;
  for (const { name, spec, isSuperseded } of active) {
    if (isSuperseded !== true) continue;
    const taken = Math.min(rest, spec);
    rest -= taken;
    sizes.set(name, spec - taken);
  }
  const others = active.filter(({ isSuperseded }) => isSuperseded !== true);
  return rest === 0 ? sizes : new Map([...sizes, ...shrinkInProportion(bounds, others, rest)]);
}

/** The set that alone has the size of the deployment; `none` where several share it. A superseded set does not grow, but the new one beside it. */
function loneSet(
  { replicas }: RolloutBounds,
  newSet: ScalableSet | undefined,
  sets: readonly ScalableSet[],
  [only, another]: readonly ScalableSet[],
): ScalableSet | undefined | "none" {
  if (another !== undefined) return "none";
  const isLeft = only?.isSuperseded === true && only.spec < replicas && newSet !== undefined;
  return isLeft ? "none" : (only ?? newSet ?? sets.at(-1));
}

/**
 * Scales the sets to a changed `spec.replicas` without a step of the rollout (MCM, `pkg/controller/deployment_sync.go` scale): more goes to the
 * newest set only, less is shared in proportion, after superseded sets.
 *
 * `sets` are ordered from oldest to newest, the one for the current template last; `newSet` is that one, if it may grow. The base of the proportion of a set
 * without a record is the total size of all sets.
 */
export function planScaling(
  bounds: RolloutBounds,
  newSet: ScalableSet | undefined,
  sets: readonly ScalableSet[],
): Sizes {
  const active = sets.filter(({ spec }) => spec > 0);
  const alone = loneSet(bounds, newSet, sets, active);
  if (alone !== "none") {
    const isRight = alone === undefined || alone.spec === bounds.replicas;
    return new Map(isRight ? [] : [[alone.name, bounds.replicas]]);
  }
  if (newSet !== undefined && newSet.spec === bounds.replicas && newSet.available === bounds.replicas) {
    return new Map(active.filter(({ name }) => name !== newSet.name).map(({ name }) => [name, 0]));
  }
  const allowed = bounds.replicas > 0 ? bounds.replicas + bounds.maxSurge : 0;
  const surplus = sum(active.map(({ spec }) => spec)) - allowed;
  if (surplus > 0) return shrinkSupersededFirst(bounds, active, surplus);
  // A machine that its set is about to delete has its place until then: the deletion may take long where responses are lost.
  const room = Math.max(0, allowed - sum(sets.map(({ spec, present = 0 }) => Math.max(spec, present))));
  // Without a set that may grow for the current template (a paused rollout) the newest one that serves does.
  const grown = newSet ?? active.at(-1);
  return grown === undefined || room === 0 ? new Map() : new Map([[grown.name, grown.spec + room]]);
}
