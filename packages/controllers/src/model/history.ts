import type { LastOperation, MachineHistoryEntry, MachineStatus } from "@millwright/core";
import { apiTime } from "@millwright/kube";

/** Entries that are kept: enough for a night of trouble, little enough for thousands of machines. */
const maxEntries = 10;

/** Characters of a message that are kept; all of it is in the events, and the last one in `lastOperation`. */
const maxMessage = 160;

/**
 * Whether something is worth remembering: what came to an end, good or bad, and what the health check noticed. Steps on the way are not, or a deletion alone
 * would fill the list.
 */
export const isRemembered = ({ state, type }: LastOperation): boolean =>
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
 * The status with one more entry in its history, the oldest gone when there are too many. An annotation would cost a request of its own: the status
 * subresource takes no metadata. With MCM's CustomResourceDefinition the API server drops the field, and nothing else changes.
 */
export const withHistory = (status: MachineStatus, entry: MachineHistoryEntry): MachineStatus => ({
  ...status,
  history: [...(status.history ?? []), entry].slice(-maxEntries),
});
