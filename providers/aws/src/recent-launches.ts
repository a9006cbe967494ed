import type { Clock, MachineIdentity } from "@millwright/core";

/**
 * Which machines may have a VM that EC2 accepted and does not show yet: for them a look that finds nothing is worth another one. The memory of this process, and only there to spare the
 * wait: who has just begun knows nothing of what the process before has asked for, and takes every machine for one of those.
 */
export interface RecentLaunches {
  /** EC2 was asked for a VM of this machine, and has not refused. */
  asked(machine: MachineIdentity): void;
  mayBeHidden(machine: MachineIdentity): boolean;
}

/**
 * Starts a memory.
 *
 * @param windowMs for how long EC2 may hide a VM, milliseconds
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
