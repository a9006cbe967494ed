import type { Machine } from "@millwright/core";

/**
 * The memory of a list of machines: which of its places have changed, so that what was found about the others need not be found again. A place is a number; a
 * machine keeps its place as long as it is in the list, and the list is in the order of the places.
 */
export interface Track {
  /** Places that were filled, changed or emptied, in the order of time. It grows, and what is in it stays. */
  readonly changes: readonly number[];
  /** The machines of the list by place, in its order. */
  readonly machines: ReadonlyMap<number, Machine>;
}

/** Machines that change, and lists of them that know what has changed. */
export interface TrackedMachines {
  /** The machines as they are. A list never changes; it is the same one as long as nothing does. */
  list(): readonly Machine[];
  /** Adds a machine behind all others, or replaces the one of its name. */
  put(machine: Machine): void;
  take(name: string): void;
  /** Notes that something changed by which a machine is judged beside the machine itself: its node. */
  touch(name: string): void;
}

/** Tracks of the lists that are still up to date. */
const tracks = new WeakMap<readonly Machine[], Track>();

/** The memory of a list; `undefined` for one that has none, or that is not up to date any more. */
export const trackOf = (list: readonly Machine[]): Track | undefined => tracks.get(list);

/** Makes a collection without machines. */
export function trackMachines(): TrackedMachines {
  const places = new Map<string, number>();
  // A place is higher than all before it, and a map keeps the order in which its keys came: that of the places.
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
