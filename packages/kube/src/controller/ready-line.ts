/**
 * How urgent a key is: `change` for what a user may be waiting for (a changed spec, a deletion, something new), `routine` for
 * everything else (resyncs, requeues, repetitions).
 */
export type Priority = "change" | "routine";

/** The line of keys that are ready, in two levels. */
export interface ReadyLine {
  /** Puts a key that is not in the line at the end of its level; moves a `routine` key up when it has become a `change`. */
  add(key: string, priority: Priority): void;
  /** Takes the next key out. */
  next(): string | undefined;
  /** How many wait. */
  readonly size: number;
  sizeOf(priority: Priority): number;
}

/** So many changes in a row go before routine keys that wait; then one of those has its turn. */
export const changesInARow = 4;

/**
 * Makes an empty line.
 *
 * Promised: keys of one level come out in the order in which they came; a change waits for at most one routine key for each
 * {@link changesInARow} changes before it, and one more; a routine key waits for at most `changesInARow` changes for each routine
 * key before it and itself, however many changes come: none starves.
 */
export function createReadyLine(): ReadyLine {
  /** Invariant: no key is in both. */
  const lines: Readonly<Record<Priority, Set<string>>> = { change: new Set(), routine: new Set() };
  /** Changes taken since a routine key was taken or the routine line was empty; at most `changesInARow`. */
  let inARow = 0;

  function take(line: Set<string>): string | undefined {
    for (const key of line) {
      line.delete(key);
      return key;
    }
    return undefined;
  }

  return {
    add(key, priority) {
      if (lines.change.has(key)) return;
      if (priority === "change") lines.routine.delete(key);
      lines[priority].add(key);
    },
    next() {
      const { change, routine } = lines;
      if (routine.size === 0) {
        inARow = 0;
        return take(change);
      }
      if (change.size > 0 && inARow < changesInARow) {
        inARow++;
        return take(change);
      }
      inARow = 0;
      return take(routine);
    },
    get size() {
      return lines.change.size + lines.routine.size;
    },
    sizeOf: (priority) => lines[priority].size,
  };
}
