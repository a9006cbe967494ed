import { compareKeys, type KeyedMachine, type SortKeyOf } from "@millwright/controllers/decisions";
import type { Machine } from "@millwright/core/machine-api";
import type { Track } from "./track.ts";

/** The machines of a track in an order. The cost of a call is proportional to the changes since the last one. */
export interface Sorted {
  inOrder(): readonly Machine[];
}

/** How many machines come before one. */
function countBefore(sorted: readonly KeyedMachine[], machine: KeyedMachine): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle];
    if (other !== undefined && compareKeys(other, machine) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sorts the machines of a track, and again only those that change. */
export function createSorted({ changes, machines }: Track, keyOf: SortKeyOf): Sorted {
  const keyed = (machine: Machine): KeyedMachine => ({ machine, key: keyOf(machine) });
  const byPlace = new Map([...machines].map(([place, machine]) => [place, keyed(machine)]));
  const sorted = [...byPlace.values()].toSorted(compareKeys);
  /** Number of changes of the track that are included. */
  let seen = changes.length;
  let inOrder = sorted.map(({ machine }) => machine);

  return {
    inOrder() {
      if (seen === changes.length) return inOrder;
      for (; seen < changes.length; seen++) {
        const place = changes[seen] ?? 0;
        const before = byPlace.get(place);
        const after = machines.get(place);
        if (before?.machine === after) continue;
        if (before !== undefined) sorted.splice(countBefore(sorted, before), 1);
        byPlace.delete(place);
        if (after === undefined) continue;
        const added = keyed(after);
        sorted.splice(countBefore(sorted, added), 0, added);
        byPlace.set(place, added);
      }
      inOrder = sorted.map(({ machine }) => machine);
      return inOrder;
    },
  };
}
