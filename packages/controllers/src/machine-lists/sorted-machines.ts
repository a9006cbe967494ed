import type { Machine } from "@millwright/core";
import { type Track, trackOf } from "./tracked-machines.ts";

/** A total order of machines. In a tracked list only changed machines are sorted again, so it must be the same function each time. */
export type MachineOrder = (a: Machine, b: Machine) => number;

interface Sorted {
  /** Number of changes of the track that are included. */
  seen: number;
  readonly byPlace: Map<number, Machine>;
  inOrder: readonly Machine[];
}

const known = new WeakMap<Track, WeakMap<MachineOrder, Sorted>>();

/** How many machines come before one. */
function countBefore(inOrder: readonly Machine[], machine: Machine, order: MachineOrder): number {
  let [low, high] = [0, inOrder.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = inOrder[middle];
    if (other !== undefined && order(other, machine) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function follow({ changes, machines }: Track, sorted: Sorted, order: MachineOrder): void {
  const inOrder = [...sorted.inOrder];
  for (; sorted.seen < changes.length; sorted.seen++) {
    const place = changes[sorted.seen] ?? 0;
    const before = sorted.byPlace.get(place);
    const after = machines.get(place);
    if (before === after) continue;
    if (before !== undefined) inOrder.splice(countBefore(inOrder, before, order), 1);
    if (after === undefined) sorted.byPlace.delete(place);
    else {
      inOrder.splice(countBefore(inOrder, after, order), 0, after);
      sorted.byPlace.set(place, after);
    }
  }
  sorted.inOrder = inOrder;
}

/** The machines of a list in an order; for a tracked list the cost is proportional to the changes since the last call. */
export function sortedMachines(list: readonly Machine[], order: MachineOrder): readonly Machine[] {
  const track = trackOf(list);
  if (track === undefined) return list.toSorted(order);
  const ofTrack = known.get(track) ?? new WeakMap<MachineOrder, Sorted>();
  known.set(track, ofTrack);
  const sorted = ofTrack.get(order);
  if (sorted === undefined) {
    const inOrder = list.toSorted(order);
    ofTrack.set(order, { seen: track.changes.length, byPlace: new Map(track.machines), inOrder });
    return inOrder;
  }
  if (sorted.seen < track.changes.length) follow(track, sorted, order);
  return sorted.inOrder;
}
