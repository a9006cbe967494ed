import type { ListDoubt } from "../model/list-doubt.ts";

/** What the lists of VMs show of the place in which the driver looks, by name of the class. */
export interface ListDoubts {
  of(className: string): ListDoubt | undefined;
  /** A list that lacks the VMs of most machines. */
  doubtful(className: string, missing: number, machines: number): void;
  /** A list that has the VM of a machine of the class: the driver looks in the right place. */
  proven(className: string): void;
  /** A list, whatever it has, or one that failed. */
  answered(className: string): void;
}

/**
 * Remembers which classes have lists that lack most VMs. The doubt ends with a list that has a VM of the class: one without any proves nothing, also when all machines are being deleted.
 *
 * @param firstListMs how long the first list of a class is waited for, from now on
 */
export function createListDoubts(
  clock: { readonly now: () => Date; readonly monotonicMs: () => number },
  hasLists: (className: string) => boolean,
  firstListMs: number,
): ListDoubts {
  const startedMs = clock.monotonicMs();
  const doubts = new Map<string, ListDoubt>();
  const answered = new Set<string>();
  const isAwaited = (className: string): boolean =>
    !answered.has(className) && clock.monotonicMs() - startedMs < firstListMs && hasLists(className);
  return {
    of: (className) => doubts.get(className) ?? (isAwaited(className) ? { kind: "no list" } : undefined),
    doubtful: (className, missing, machines) => void doubts.set(className, { kind: "doubtful", missing, machines }),
    proven(className) {
      if (doubts.get(className)?.kind === "doubtful")
        doubts.set(className, { kind: "over", atMs: clock.now().getTime() });
    },
    answered: (className) => void answered.add(className),
  };
}
