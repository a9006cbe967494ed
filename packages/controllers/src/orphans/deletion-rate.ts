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
