import type { Clock } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import type { MachineClass } from "@millwright/core/machine-api";

/** How many VMs of a class may be deleted as orphans. */
export interface DeletionRate {
  /** At once. */
  readonly burst: number;
  /** In the long run. */
  readonly perHour: number;
}

/** A mistake costs ten VMs, and people have an hour to notice it. */
export const defaultDeletionRate: DeletionRate = { burst: 10, perHour: 10 };

const HOUR = 3_600_000;

/**
 * Whether another VM may be deleted now: the deletions so far, each of which is paid back at the rate, leave room in the burst.
 *
 * @param deletions times of the monotonic clock, oldest first
 */
export function mayDelete({
  deletions,
  rate: { burst, perHour },
  nowMs,
}: {
  readonly deletions: readonly number[];
  readonly rate: DeletionRate;
  readonly nowMs: number;
}): boolean {
  let used = 0;
  let atMs = deletions[0] ?? nowMs;
  for (const deletedMs of deletions) {
    used = Math.max(0, used - ((deletedMs - atMs) * perHour) / HOUR) + 1;
    atMs = deletedMs;
  }
  return used - ((nowMs - atMs) * perHour) / HOUR + 1 <= burst;
}

/** The deletions of a class. */
interface Deletions {
  /** Monotonic clock, oldest first. */
  readonly times: number[];
  /** VMs that were counted: the deletion of one may take several calls. */
  readonly vms: Set<string>;
}

/**
 * Counts the deletions of each class. Lost with the process.
 *
 * @param enterBudget enters a deletion into the budget of all deletions, and returns whether that has room
 */
export function createDeletionRates(clock: Pick<Clock, "monotonicMs">, enterBudget: (className: string) => boolean) {
  /** By UID of the class. */
  const byClass = new Map<string, Deletions>();
  return {
    /** Enters the deletion of a VM, once, if the rates have room; returns whether they have. */
    enter({ name, uid = "" }: MachineClass["metadata"], { providerId }: ListedMachine): boolean {
      const deletions: Deletions = byClass.get(uid) ?? { times: [], vms: new Set() };
      byClass.set(uid, deletions);
      if (deletions.vms.has(providerId)) return true;
      const nowMs = clock.monotonicMs();
      if (!mayDelete({ deletions: deletions.times, rate: defaultDeletionRate, nowMs })) return false;
      if (!enterBudget(name)) return false;
      deletions.times.push(nowMs);
      deletions.vms.add(providerId);
      return true;
    },
    /** The class is deleted. */
    forget: (uid: string): void => void byClass.delete(uid),
  };
}
