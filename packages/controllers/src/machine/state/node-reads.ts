import type { Clock } from "@millwright/base";

/** How long a read of a Node counts, milliseconds: for the reconcile that it enqueues. */
const VALID_MS = 30_000;

export type NodeReads = ReturnType<typeof createNodeReads>;

/** Records reads of the Nodes of Machines from the API server, where something is done that the cache, which may be behind by minutes, must not decide. Kept in memory only. */
export function createNodeReads(clock: Pick<Clock, "monotonicMs">) {
  const reads = new Map<string, ReadonlyMap<string, number>>();
  return {
    /** Whether this Node of a Machine was read just now, whether it exists or not. */
    isRecent(uid: string, nodeName: string): boolean {
      const atMs = reads.get(uid)?.get(nodeName);
      return atMs !== undefined && clock.monotonicMs() - atMs < VALID_MS;
    },
    record: (uid: string, nodeName: string): void =>
      void reads.set(uid, new Map([...(reads.get(uid) ?? []), [nodeName, clock.monotonicMs()]])),
    /** The machine with this UID was deleted. */
    forget: (uid: string): void => void reads.delete(uid),
  };
}
