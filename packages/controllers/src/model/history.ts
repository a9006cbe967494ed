import type { LastOperation, MachineHistoryEntry, MachineStatus } from "@millwright/core";
import { apiTime } from "@millwright/kube";

/** Number of entries: enough for a night of failures, affordable for thousands of machines. */
const maxEntries = 10;

/** Characters of a message that are kept; the events and `lastOperation` have all of it. */
const maxMessage = 160;

/**
 * Whether an operation is recorded in the history: those that ended, and findings of the health check. Intermediate steps are not: a deletion alone
 * would fill the list.
 */
export const belongsInHistory = ({ state, type }: LastOperation): boolean =>
  state !== "Processing" || type === "HealthCheck";

/** The entry for an operation. */
export function entryOf({ type, state, errorCode, description = "" }: LastOperation, now: Date): MachineHistoryEntry {
  const message = description.length <= maxMessage ? description : `${description.slice(0, maxMessage - 1)}…`;
  return {
    time: apiTime(now),
    operation: type ?? "",
    outcome: errorCode === undefined || errorCode === "" ? (state ?? "") : errorCode,
    message,
  };
}

/**
 * The status with one more entry in its history, without the oldest when there are too many. An annotation would cost another request: the status
 * subresource takes no metadata. With MCM's CustomResourceDefinition the API server drops the field, and nothing else changes.
 */
export const withHistory = (status: MachineStatus, entry: MachineHistoryEntry): MachineStatus => ({
  ...status,
  history: [...(status.history ?? []), entry].slice(-maxEntries),
});
