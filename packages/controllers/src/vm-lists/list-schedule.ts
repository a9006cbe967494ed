import type { Clock, Random } from "@millwright/base";

/** When the VMs of a class are listed, milliseconds. */
export interface VmListTimes {
  /** Between two lists of a class. Default 15 minutes, as MCM's `--machine-safety-orphan-vms-period`. */
  readonly periodMs: number;
  /** The shortest time between the starts of two lists of a class, whatever requests them. Default 1 minute. */
  readonly minIntervalMs: number;
  /**
   * From the first list that lacks the VM of a machine to the call that confirms it. Default 6 minutes: a kubelet that still runs reports at least every 5 (`nodeStatusReportFrequency`).
   */
  readonly confirmAfterMs: number;
}

/** {@link VmListTimes} as MCM has them. */
export const defaultVmListTimes: VmListTimes = {
  periodMs: 15 * 60_000,
  minIntervalMs: 60_000,
  confirmAfterMs: 6 * 60_000,
};

/** The times of one class; monotonic clock. */
interface Entry {
  dueMs: number;
  startedMs: number | undefined;
  /** Consecutive ones. */
  failures: number;
}

/** When each class is listed next. Requests while a list runs are about a later one. */
export function createListSchedule(
  { periodMs, minIntervalMs }: Pick<VmListTimes, "periodMs" | "minIntervalMs">,
  clock: Pick<Clock, "monotonicMs">,
  random: Pick<Random, "next">,
) {
  const entries = new Map<string, Entry>();
  const entryOf = (uid: string): Entry => {
    const known = entries.get(uid);
    if (known !== undefined) return known;
    const dueMs = clock.monotonicMs() + random.next() * minIntervalMs;
    const entry: Entry = { dueMs, startedMs: undefined, failures: 0 };
    entries.set(uid, entry);
    return entry;
  };
  const request = (uid: string, afterMs: number): void => {
    const entry = entryOf(uid);
    const earliestMs = (entry.startedMs ?? Number.NEGATIVE_INFINITY) + minIntervalMs;
    entry.dueMs = Math.min(entry.dueMs, Math.max(clock.monotonicMs() + afterMs, earliestMs));
  };
  return {
    /** Milliseconds until the class is due. A class that was never listed is due within the minimum interval: not all at the same moment. */
    waitMs: (uid: string): number => Math.max(0, entryOf(uid).dueMs - clock.monotonicMs()),
    /** Lists a class after that time, unless it is due earlier. */
    request,
    started(uid: string): void {
      const entry = entryOf(uid);
      entry.startedMs = clock.monotonicMs();
      entry.dueMs = Number.POSITIVE_INFINITY;
    },
    succeeded(uid: string): void {
      entryOf(uid).failures = 0;
      request(uid, periodMs * (0.95 + random.next() / 10));
    },
    failed(uid: string, retryAfterMs: number): void {
      const failures = ++entryOf(uid).failures;
      const backoffMs = Math.min(periodMs, minIntervalMs * 2 ** Math.min(20, failures - 1));
      request(uid, Math.max(retryAfterMs, backoffMs * (0.95 + random.next() / 10)));
    },
    forget: (uid: string): void => void entries.delete(uid),
  };
}
