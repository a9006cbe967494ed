import type { Clock } from "@millwright/base";

const HOUR = 3_600_000;

/** So many deletions an hour are allowed to the smallest fleet. */
const MIN_RATE = 50;

/** A fleet may be deleted this often within an hour: twice is more than any rollout needs. */
const FLEETS_PER_HOUR = 2;

export type DeletionRate = ReturnType<typeof createDeletionRate>;

/**
 * A token bucket for deletions, full at first. It holds back loops of creation and deletion, not a single large deletion. Its capacity follows the largest number of machines within the last hour, and it fills within
 * an hour.
 */
export function createDeletionRate(clock: Pick<Clock, "monotonicMs">) {
  let machines = 0;
  /** Invariant: counts fall with time, so that the first is the largest of the last hour. */
  let peaks: { readonly count: number; untilMs: number }[] = [];
  let used = 0;
  let atMs = clock.monotonicMs();

  const limitAt = (nowMs: number): number => {
    peaks = peaks.filter(({ untilMs }) => untilMs > nowMs);
    return Math.max(MIN_RATE, FLEETS_PER_HOUR * Math.max(machines, peaks[0]?.count ?? 0));
  };
  const refill = (): number => {
    const nowMs = clock.monotonicMs();
    const limit = limitAt(nowMs);
    used = Math.max(0, used - ((nowMs - atMs) * limit) / HOUR);
    atMs = nowMs;
    return limit;
  };

  return {
    /** The number of machines has changed. */
    resize(change: 1 | -1): void {
      if (change === -1) {
        const untilMs = clock.monotonicMs() + HOUR;
        const last = peaks.at(-1);
        // A fleet that is deleted is one peak, not one for each machine.
        if (last === undefined || last.count < machines) {
          peaks = [...peaks.filter(({ count }) => count > machines), { count: machines, untilMs }];
        } else if (last.count === machines) last.untilMs = untilMs;
        else if (untilMs - last.untilMs > HOUR / 60) peaks.push({ count: machines, untilMs });
      }
      machines += change;
    },
    use(): void {
      refill();
      used += 1;
    },
    /** A deletion did not begin after all. */
    giveBack(): void {
      refill();
      used = Math.max(0, used - 1);
    },
    /** Whether machines, or deletions of the last hour, make the bucket worth a look. */
    isInUse(): boolean {
      refill();
      return machines > 0 || used > 0;
    },
    /** Capacity, the deletions that are left of it, and milliseconds until one more is left. */
    room(): { readonly limit: number; readonly count: number; readonly moreInMs: number } {
      const limit = refill();
      const left = limit - used;
      const count = Math.max(0, Math.floor(left));
      return { limit, count, moreInMs: count > 0 ? 0 : Math.ceil(((1 - left) * HOUR) / limit) };
    },
  };
}
