import type { Machine } from "@millwright/core";
import { type Track, trackOf } from "./tracked-machines.ts";

/**
 * A predicate of a machine. In a tracked list it is evaluated again only for changed machines, so it must be the same function each time, and
 * depend only on the machine, on what its list is touched for, and on what the predicate was made of.
 */
export type Question = (machine: Machine) => boolean;

/** The results of a predicate for a track so far. */
interface Answers {
  /** Number of changes of the track that are included. */
  seen: number;
  /** The machines for which it holds, by place. */
  readonly holding: Map<number, Machine>;
  /** The same in the order of the list; `undefined` when it must be computed again. */
  inOrder: readonly Machine[] | undefined;
}

const known = new WeakMap<Track, WeakMap<Question, Answers>>();

function firstAnswers({ changes, machines }: Track, question: Question): Answers {
  const holding = new Map([...machines].filter(([, machine]) => question(machine)));
  return { seen: changes.length, holding, inOrder: undefined };
}

function answersOf(track: Track, question: Question): Answers {
  const ofTrack = known.get(track) ?? new WeakMap<Question, Answers>();
  known.set(track, ofTrack);
  const answers = ofTrack.get(question) ?? firstAnswers(track, question);
  ofTrack.set(question, answers);
  const { holding } = answers;
  for (; answers.seen < track.changes.length; answers.seen++) {
    const place = track.changes[answers.seen] ?? 0;
    const machine = track.machines.get(place);
    if (machine !== undefined && question(machine)) {
      if (holding.get(place) === machine) continue;
      holding.set(place, machine);
    } else if (!holding.delete(place)) continue;
    answers.inOrder = undefined;
  }
  return answers;
}

/**
 * The machines of a list for which a predicate holds, in its order; the list itself when it holds for all. For a tracked list the cost is proportional to the changes since the
 * last call, and the result; for others, to the whole list.
 */
export function machinesWhere(list: readonly Machine[], question: Question): readonly Machine[] {
  const track = trackOf(list);
  if (track === undefined) {
    const found = list.filter(question);
    return found.length === list.length ? list : found;
  }
  const answers = answersOf(track, question);
  if (answers.holding.size === list.length) return list;
  answers.inOrder ??= [...answers.holding].toSorted(([a], [b]) => a - b).map(([, machine]) => machine);
  return answers.inOrder;
}

/** The number of machines of a list for which a predicate holds; see {@link machinesWhere}. */
export function countWhere(list: readonly Machine[], question: Question): number {
  const track = trackOf(list);
  if (track !== undefined) return answersOf(track, question).holding.size;
  let count = 0;
  for (const machine of list) if (question(machine)) count++;
  return count;
}

/** Caches predicates by their subject, such as a template or a selector. */
export function questionAbout<Subject extends object>(
  make: (subject: Subject) => Question,
): (subject: Subject) => Question {
  const made = new WeakMap<Subject, Question>();
  return (subject) => {
    const question = made.get(subject) ?? make(subject);
    made.set(subject, question);
    return question;
  };
}
