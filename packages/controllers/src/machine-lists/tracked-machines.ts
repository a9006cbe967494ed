import type { Machine } from "@millwright/core";

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

/** A changing collection of machines, with lists that track their changes. */
export interface TrackedMachines {
  /** The current machines. Lists are immutable; the same one is returned until something changes. */
  list(): readonly Machine[];
  /** Appends a machine, or replaces the one of its name. */
  put(machine: Machine): void;
  take(name: string): void;
  /** Marks a machine as changed although its object is not: its node has changed. */
  touch(name: string): void;
}

/** Tracks of the current lists. */
const tracks = new WeakMap<readonly Machine[], Track>();

/** The track of a list; `undefined` for one that has none, or is outdated. */
export const trackOf = (list: readonly Machine[]): Track | undefined => tracks.get(list);

/** Makes an empty collection. */
export function trackMachines(): TrackedMachines {
  const places = new Map<string, number>();
  // Places increase, and a map keeps the order of insertion: that of the places.
  const machines = new Map<number, Machine>();
  const changes: number[] = [];
  const track: Track = { changes, machines };
  let current: readonly Machine[] | undefined;
  let nextPlace = 0;

  const note = (place: number): void => {
    changes.push(place);
    if (current !== undefined) tracks.delete(current);
    current = undefined;
  };

  return {
    list() {
      if (current === undefined) {
        current = [...machines.values()];
        tracks.set(current, track);
      }
      return current;
    },
    put(machine) {
      const { name } = machine.metadata;
      const place = places.get(name) ?? nextPlace++;
      places.set(name, place);
      machines.set(place, machine);
      note(place);
    },
    take(name) {
      const place = places.get(name);
      if (place === undefined) return;
      places.delete(name);
      machines.delete(place);
      note(place);
    },
    touch(name) {
      const place = places.get(name);
      if (place !== undefined) note(place);
    },
  };
}
