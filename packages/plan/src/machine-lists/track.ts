import type { Machine } from "@millwright/core/machine-api";

/**
 * Tracks the changes of a list of machines, so that results about unchanged machines can be reused. A place is a number; a
 * machine keeps its place as long as it is in the list, and the list is in the order of the places.
 */
export interface Track {
  /** Places that were added, changed or removed, in chronological order. Append-only. */
  readonly changes: readonly number[];
  /** The machines of the list by place, in its order. */
  readonly machines: ReadonlyMap<number, Machine>;
}
