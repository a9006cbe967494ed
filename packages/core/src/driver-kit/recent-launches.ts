import type { Clock } from "@millwright/base";
import type { MachineIdentity } from "../driver/messages.ts";

/**
 * Machines that may have a VM that the cloud has accepted and does not return yet: if no VM is found for them, a second lookup is needed. Kept in memory, only to avoid
 * the delay for others: a new process does not know the requests of the previous one and includes every machine.
 */
export interface RecentLaunches {
  /** A VM of this machine was requested, and the cloud has not certainly rejected it. */
  asked(machine: Pick<MachineIdentity, "uid">): void;
  mayBeHidden(machine: Pick<MachineIdentity, "uid">): boolean;
}

/**
 * Starts to record launches. A driver does so with its first call: a process that waits to become leader has not seen those of the leader.
 *
 * @param windowMs for how long the cloud may hide a VM, milliseconds
 */
export function createRecentLaunches(clock: Clock, windowMs: number): RecentLaunches {
  const startMs = clock.monotonicMs();
  // In the order of their times.
  const askedMs = new Map<string, number>();
  const isRecent = (atMs: number): boolean => clock.monotonicMs() - atMs < windowMs;
  return {
    asked({ uid }) {
      askedMs.delete(uid);
      askedMs.set(uid, clock.monotonicMs());
      for (const [other, atMs] of askedMs) {
        if (isRecent(atMs)) break;
        askedMs.delete(other);
      }
    },
    mayBeHidden: ({ uid }) => isRecent(startMs) || isRecent(askedMs.get(uid) ?? Number.NEGATIVE_INFINITY),
  };
}
