import type { Machine } from "@millwright/core";
import { type Track, trackOf } from "./tracked-machines.ts";

/**
 * A predicate of a machine. In a tracked list it is evaluated again only for changed machines, so it must be the same function each time, and
 * depend only on the machine, on what its list is touched for, and on what the predicate was made of.
 */
export type MachinePredicate = (machine: Machine) => boolean;

/** The results of a predicate for a track so far. */
interface Matches {
  /** Number of changes of the track that are included. */
  seen: number;
  /** The machines for which it holds, by place. */
  readonly holding: Map<number, Machine>;
  /** The same in the order of the list; `undefined` when it must be computed again. */
  inOrder: readonly Machine[] | undefined;
}

const known = new WeakMap<Track, WeakMap<MachinePredicate, Matches>>();

function firstMatches({ changes, machines }: Track, predicate: MachinePredicate): Matches {
  const holding = new Map([...machines].filter(([, machine]) => predicate(machine)));
  return { seen: changes.length, holding, inOrder: undefined };
}

function matchesOf(track: Track, predicate: MachinePredicate): Matches {
  const ofTrack = known.get(track) ?? new WeakMap<MachinePredicate, Matches>();
  known.set(track, ofTrack);
  const matches = ofTrack.get(predicate) ?? firstMatches(track, predicate);
  ofTrack.set(predicate, matches);
  const { holding } = matches;
  for (; matches.seen < track.changes.length; matches.seen++) {
    const place = track.changes[matches.seen] ?? 0;
    const machine = track.machines.get(place);
    if (machine !== undefined && predicate(machine)) {
      if (holding.get(place) === machine) continue;
      holding.set(place, machine);
    } else if (!holding.delete(place)) continue;
    matches.inOrder = undefined;
  }
  return matches;
}

/**
 * The machines of a list for which a predicate holds, in its order; the list itself when it holds for all. For a tracked list the cost is proportional to the changes since the
 * last call, and the result; for others, to the whole list.
 */
export function machinesWhere(list: readonly Machine[], predicate: MachinePredicate): readonly Machine[] {
  const track = trackOf(list);
  if (track === undefined) {
    const found = list.filter(predicate);
    return found.length === list.length ? list : found;
  }
  const matches = matchesOf(track, predicate);
  if (matches.holding.size === list.length) return list;
  matches.inOrder ??= [...matches.holding].toSorted(([a], [b]) => a - b).map(([, machine]) => machine);
  return matches.inOrder;
}

/** The number of machines of a list for which a predicate holds; see {@link machinesWhere}. */
export function countWhere(list: readonly Machine[], predicate: MachinePredicate): number {
  const track = trackOf(list);
  if (track !== undefined) return matchesOf(track, predicate).holding.size;
  let count = 0;
  for (const machine of list) if (predicate(machine)) count++;
  return count;
}

/** Caches predicates by their subject, such as a template or a selector. */
export function predicateFor<Subject extends object>(
  make: (subject: Subject) => MachinePredicate,
): (subject: Subject) => MachinePredicate {
  const made = new WeakMap<Subject, MachinePredicate>();
  return (subject) => {
    const predicate = made.get(subject) ?? make(subject);
    made.set(subject, predicate);
    return predicate;
  };
}
