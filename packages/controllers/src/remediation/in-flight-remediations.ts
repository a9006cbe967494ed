/**
 * Permits to be replaced, held between the decision that makes a machine Failed and the arrival of that write in the cache. Passes that decide meanwhile
 * count them, so that no two pass the gate because neither sees the other. Other processes need not be asked: only the leader decides.
 */
export interface ReplacementPermits {
  /** UIDs of the machines of a group that hold a permit. */
  heldIn(group: string): readonly string[];
  holds(uid: string): boolean;
  /** A machine takes its permit in the same turn of the event loop in which it was decided; taking it twice is taking it once. */
  take(uid: string, group: string): void;
  /** The write has arrived, or will not be made. Answers the group that was waiting for it, if the machine held a permit. */
  release(uid: string): string | undefined;
}

export function createInFlightRemediations(): ReplacementPermits {
  /** Group by UID. One entry per machine whose write is under way: what fails for good is released by the next pass of that machine, or with its object. */
  const groups = new Map<string, string>();
  return {
    heldIn: (group) => [...groups].filter(([, its]) => its === group).map(([uid]) => uid),
    holds: (uid) => groups.has(uid),
    take: (uid, group) => void groups.set(uid, group),
    release(uid) {
      const group = groups.get(uid);
      groups.delete(uid);
      return group;
    },
  };
}
