import type { MachineList, MachineLookup, MachinePredicate } from "@millwright/controllers/decisions";
import type { Machine } from "@millwright/core/machine-api";
import { createMadePredicates, type MadePredicates } from "./made-predicates.ts";
import { createMatches, type Matches } from "./matches.ts";
import { createSorted, type Sorted } from "./sorted.ts";
import type { Track } from "./track.ts";

/** A changing collection of machines, with lists whose lookup costs what has changed since it was last asked the same. */
export interface TrackedMachines {
  /** The current machines. Lists are immutable; the same one is returned until something changes. Only the current one has a lookup. */
  list(): MachineList;
  /** Appends a machine, or replaces the one of its name. */
  put(machine: Machine): void;
  take(name: string): void;
  /** Marks a machine as changed although its object is not: its node has changed. */
  touch(name: string): void;
}

/** The value of a key, made on first use. */
function valueOf<Key, Value>(
  values: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}

/** Answers about the current machines of a track. Each predicate and each order is one function for its lifetime; its results go with it. */
function createLookup(track: Track, current: () => MachineList): MachineLookup {
  const matches = new WeakMap<MachinePredicate, Matches>();
  const sorted = new WeakMap<object, Sorted>();
  const predicates = new Map<object, MadePredicates>();
  const matchesOf = (predicate: MachinePredicate): Matches =>
    valueOf(matches, predicate, () => createMatches(track, predicate));
  return {
    where: (predicate) => {
      const { count, inOrder } = matchesOf(predicate);
      return count() === track.machines.size ? current() : inOrder();
    },
    count: (predicate) => matchesOf(predicate).count(),
    sortedBy: (keyOf) => valueOf(sorted, keyOf, () => createSorted(track, keyOf)).inOrder(),
    predicateFor: (makes, subject, make) => valueOf(predicates, makes, createMadePredicates).of(subject, make),
  };
}

/** Makes an empty collection. */
export function trackMachines(): TrackedMachines {
  const places = new Map<string, number>();
  // Places increase, and a map keeps the order of insertion: that of the places.
  const machines = new Map<number, Machine>();
  const changes: number[] = [];
  let current: MachineList | undefined;
  let nextPlace = 0;

  const list = (): MachineList => {
    if (current !== undefined) return current;
    const made: MachineList = [...machines.values()];
    // A list that is outdated is a plain array.
    Object.defineProperty(made, "lookup", { get: () => (made === current ? lookup : undefined) });
    current = made;
    return made;
  };
  const lookup = createLookup({ changes, machines }, list);
  const note = (place: number): void => {
    changes.push(place);
    current = undefined;
  };

  return {
    list,
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
