import type { Machine } from "@millwright/core/machine-api";

/**
 * A predicate of a machine. It depends only on the machine, its node, and what the predicate was made of. A lookup reuses its results, so it must be the same function each
 * time: declared once, or made with {@link predicateFor}.
 */
export type MachinePredicate = (machine: Machine) => boolean;

/** Makes a predicate from what it depends on besides the machine, such as a template. Declared once. */
export type MakePredicate<Subject extends object> = (subject: Subject) => MachinePredicate;

/** The numbers by which machines are sorted, the most important first. Declared once. */
export type SortKeyOf = (machine: Machine) => readonly number[];

/** Answers about the machines of a list, for which not all of them have to be read. */
export interface MachineLookup {
  where(predicate: MachinePredicate): MachineList;
  count(predicate: MachinePredicate): number;
  sortedBy(keyOf: SortKeyOf): readonly Machine[];
  /** The predicate that `makes` makes of a subject with these fields; the same one for an equal subject. */
  predicateFor(makes: object, subject: object, make: () => MachinePredicate): MachinePredicate;
}

/** Machines that are immutable, and so is the list. */
export interface MachineList extends ReadonlyArray<Machine> {
  /** Absent for a plain array, as the caches give them. A simulation has one: most of its moments change one machine of thousands. */
  readonly lookup?: MachineLookup;
}

/** The machines of a list for which a predicate holds, in its order; with a lookup the list itself when it holds for all. */
export const machinesWhere = (list: MachineList, predicate: MachinePredicate): MachineList =>
  list.lookup?.where(predicate) ?? list.filter(predicate);

/** The number of machines of a list for which a predicate holds. */
export function countWhere(list: MachineList, predicate: MachinePredicate): number {
  if (list.lookup !== undefined) return list.lookup.count(predicate);
  let count = 0;
  for (const machine of list) if (predicate(machine)) count++;
  return count;
}

/** The predicate to ask a list about a subject. */
export const predicateFor = <Subject extends object>(
  list: MachineList,
  make: MakePredicate<Subject>,
  subject: Subject,
): MachinePredicate => list.lookup?.predicateFor(make, subject, () => make(subject)) ?? make(subject);

/**
 * The machines that matter to a function that does nothing with those for which the predicate does not hold. A plain list stays as it is: to evaluate the predicate for all
 * costs as much as the function.
 */
export const candidatesIn = <Subject extends object>(
  list: MachineList,
  make: MakePredicate<Subject>,
  subject: Subject,
): MachineList => (list.lookup === undefined ? list : machinesWhere(list, predicateFor(list, make, subject)));

/** A machine with its sort key. */
export interface KeyedMachine {
  readonly machine: Machine;
  readonly key: readonly number[];
}

/** Orders machines by their keys, and those with equal keys by name, so that the order is total. */
export function compareKeys(a: KeyedMachine, b: KeyedMachine): number {
  const place = a.key.findIndex((number, index) => number !== b.key[index]);
  if (place >= 0) return (a.key[place] ?? 0) < (b.key[place] ?? 0) ? -1 : 1;
  const [name, other] = [a.machine.metadata.name, b.machine.metadata.name];
  return name === other ? 0 : name < other ? -1 : 1;
}

/** The machines of a list, those with the lowest key first, and those with equal keys by name. */
export const sortedBy = (list: MachineList, keyOf: SortKeyOf): readonly Machine[] =>
  list.lookup?.sortedBy(keyOf) ??
  list
    .map((machine): KeyedMachine => ({ machine, key: keyOf(machine) }))
    .toSorted(compareKeys)
    .map(({ machine }) => machine);
