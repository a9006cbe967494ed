/**
 * Remediations between the decision that makes a machine Failed and the arrival of that write in the cache. Concurrent reconciles count them, so that no two exceed the budget because
 * neither observes the other. Other processes do not matter: only the leader decides. A write that fails for good is ended by the next reconcile of the machine, or with its object.
 */
export function createInFlightRemediations() {
  const groups = new Map<string, string>();
  return {
    /** UIDs of the machines of a group. */
    inGroup: (group: string): readonly string[] => [...groups].filter(([, its]) => its === group).map(([uid]) => uid),
    has: (uid: string): boolean => groups.has(uid),
    /** Must be called in the same turn of the event loop in which the remediation was decided. Starting it twice has no effect. */
    start: (uid: string, group: string): void => void groups.set(uid, group),
    /** The write arrived, or will not be sent. Returns the group that was waiting for it, if there was a remediation. */
    end(uid: string): string | undefined {
      const group = groups.get(uid);
      groups.delete(uid);
      return group;
    },
  };
}
