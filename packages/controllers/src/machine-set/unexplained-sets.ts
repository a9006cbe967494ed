import type { MachineSet } from "@millwright/core/machine-api";
import { keyOf } from "@millwright/kube";

/** Sets whose status counted more machines than the cache had when this process first saw them: the first list may have been incomplete, and there was nothing to compare it with. */
export interface UnexplainedSets {
  /**
   * Whether machines of a set are still missing.
   *
   * @param count machines of the set in the cache
   */
  observe(set: MachineSet, count: number): boolean;
  /** The set may create machines, so what is missing does not exist. */
  settle(key: string): void;
  forget(key: string): void;
}

/** Follows the sets of a process. */
export function trackUnexplainedSets(): UnexplainedSets {
  /** How many machines a set has at least, by its key; 0 when that is settled. */
  const expected = new Map<string, number>();
  return {
    observe(set, count) {
      const key = keyOf(set);
      const atLeast = expected.get(key) ?? set.status?.replicas ?? 0;
      expected.set(key, count >= atLeast ? 0 : atLeast);
      return count < atLeast;
    },
    settle: (key) => void expected.set(key, 0),
    forget: (key) => void expected.delete(key),
  };
}
