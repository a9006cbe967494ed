import type { MachinePredicate } from "@millwright/controllers/decisions";
import type { Machine } from "@millwright/core/machine-api";
import type { Track } from "./track.ts";

/** The machines of a track for which a predicate holds. The cost of a call is proportional to the changes since the last one. */
export interface Matches {
  count(): number;
  /** The machines in the order of the list. */
  inOrder(): readonly Machine[];
}

/** Evaluates a predicate for the machines of a track, and again only for those that change. */
export function createMatches({ changes, machines }: Track, predicate: MachinePredicate): Matches {
  /** By place. */
  const holding = new Map([...machines].filter(([, machine]) => predicate(machine)));
  /** Number of changes of the track that are included. */
  let seen = changes.length;
  /** `undefined` when it must be computed again. */
  let inOrder: readonly Machine[] | undefined;

  const follow = (): void => {
    for (; seen < changes.length; seen++) {
      const place = changes[seen] ?? 0;
      const machine = machines.get(place);
      if (machine !== undefined && predicate(machine)) {
        if (holding.get(place) === machine) continue;
        holding.set(place, machine);
      } else if (!holding.delete(place)) continue;
      inOrder = undefined;
    }
  };

  return {
    count() {
      follow();
      return holding.size;
    },
    inOrder() {
      follow();
      inOrder ??= [...holding].toSorted(([a], [b]) => a - b).map(([, machine]) => machine);
      return inOrder;
    },
  };
}
