import type { Taint } from "@millwright/core/machine-api";

/** Kubernetes identifies a taint by key and effect, not by value or time. */
export const taintId = ({ key, effect }: Taint): string => `${key}:${effect}`;

const isSameValue = (a: Taint, b: Taint): boolean => (a.value ?? "") === (b.value ?? "");

/** Taints by key and effect; of duplicates the last counts. */
const byId = (taints: readonly Taint[]): ReadonlyMap<string, Taint> =>
  new Map(taints.map((taint) => [taintId(taint), taint]));

/** Whether two lists contain the same taints, in any order. */
export function isSameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  const first = byId(a);
  const second = byId(b);
  return (
    first.size === second.size &&
    [...first].every(([id, taint]) => {
      const other = second.get(id);
      return other !== undefined && isSameValue(taint, other);
    })
  );
}

/** The taints of a node. */
export interface TaintLists {
  readonly live: readonly Taint[];
  /** Those of the template that was applied last. */
  readonly applied: readonly Taint[];
  /** Those of the template. */
  readonly desired: readonly Taint[];
}

/** The desired taints that were applied before, and that another client has since removed or given another value. */
export function removedTaints({ live, applied, desired }: TaintLists): readonly Taint[] {
  const isIn = (taints: readonly Taint[], taint: Taint): boolean =>
    taints.some((each) => taintId(each) === taintId(taint) && isSameValue(each, taint));
  return desired.filter((taint) => isIn(applied, taint) && !isIn(live, taint));
}

/**
 * The taints of a node with those `desired`, and without those that were `applied` before and are no longer desired. Taints of others keep their place;
 * a changed value of one of ours is reverted. `undefined` when nothing changes.
 *
 * @param left desired taints that stay as they are on the node, or are not on it
 */
export function mergeTaints(
  { live, applied, desired }: TaintLists,
  left: readonly Taint[] = [],
): readonly Taint[] | undefined {
  const wanted = byId(desired);
  const before = byId(applied);
  const present = byId(live);
  const isKept = (taint: Taint): boolean => {
    const want = wanted.get(taintId(taint));
    return want === undefined ? !before.has(taintId(taint)) : isSameValue(taint, want) || left.includes(want);
  };
  const added = [...wanted.values()].filter((taint) => {
    if (left.includes(taint)) return false;
    const have = present.get(taintId(taint));
    return have === undefined || !isSameValue(have, taint);
  });
  const kept = live.filter(isKept);
  return added.length === 0 && kept.length === live.length ? undefined : [...kept, ...added];
}
