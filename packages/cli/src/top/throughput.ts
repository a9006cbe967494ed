import type { MachineRow } from "@millwright/dashboard/rows";

/** What has happened within a minute. */
export interface MinuteCounts {
  /** Machines that became Running, or Available without a target cluster. */
  readonly running: number;
  readonly deleted: number;
}

/** Counts what happens to machines. */
export interface Throughput {
  /** Records a change: `before` is absent for a machine that is new or was just read, `after` for one that is gone. */
  record(before: MachineRow | undefined, after: MachineRow | undefined, nowMs: number): void;
  /** Of the last minute. */
  counts(nowMs: number): MinuteCounts;
}

const MINUTE_MS = 60_000;

const serves = ({ phase }: MachineRow): boolean => phase === "Running" || phase === "Available";

/** Whether a machine has just come into service for the first time: one that was Unknown has been there before. */
const hasJoined = (before: MachineRow, after: MachineRow): boolean =>
  serves(after) && !serves(before) && before.phase !== "Unknown" && !before.phase.startsWith("InPlace");

/** Makes a counter of the last minute. Times are of a monotonic clock, milliseconds. */
export function createThroughput(): Throughput {
  let running: number[] = [];
  let deleted: number[] = [];
  return {
    record(before, after, nowMs) {
      if (before === undefined) return;
      if (after === undefined) deleted.push(nowMs);
      else if (hasJoined(before, after)) running.push(nowMs);
    },
    counts(nowMs) {
      const isRecent = (time: number): boolean => time > nowMs - MINUTE_MS;
      running = running.filter(isRecent);
      deleted = deleted.filter(isRecent);
      return { running: running.length, deleted: deleted.length };
    },
  };
}
