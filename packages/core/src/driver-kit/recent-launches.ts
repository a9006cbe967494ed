import type { Clock } from "@millwright/base";
import type { MachineIdentity } from "../driver/messages.ts";

/**
 * Which machines may have a VM that the cloud has accepted and does not show yet: for them a look that finds nothing is worth another one. The memory of this process, and only there to spare
 * the wait: who has just begun knows nothing of what the process before has asked for, and takes every machine for one of those.
 */
export interface RecentLaunches {
  /** The cloud was asked for a VM of this machine, and has not refused for sure. */
  asked(machine: Pick<MachineIdentity, "uid">): void;
  mayBeHidden(machine: Pick<MachineIdentity, "uid">): boolean;
}

/**
 * Starts a memory. A driver does so with its first call: who waits to lead has not seen what others asked for meanwhile.
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
