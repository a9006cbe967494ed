import type { Sizes } from "../state/rollout-bounds.ts";
import type { SetSize } from "../state/set-size.ts";

/** What the Recreate strategy does next: empty the old sets, wait until no machine of theirs is left, then fill the new one. */
export function planRecreate(
  replicas: number,
  newSet: SetSize | undefined,
  oldSets: readonly SetSize[],
): Sizes | "create the new set" {
  const active = oldSets.filter(({ spec }) => spec > 0);
  if (active.length > 0) return new Map(active.map(({ name }) => [name, 0]));
  if (oldSets.some(({ existing }) => existing > 0)) return new Map();
  if (newSet === undefined) return "create the new set";
  return newSet.spec === replicas ? new Map() : new Map([[newSet.name, replicas]]);
}
