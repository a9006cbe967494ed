import {
  isNextAttempt,
  isReported,
  type Machine,
  type MachinePhase,
  type MachineStatus,
  newOperation,
  type OperationEvents,
  type OperationUpdate,
  type LastOperation,
  type MachineHistoryEntry,
} from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";

/** Number of entries: enough for a night of failures, affordable for thousands of machines. */
const maxEntries = 10;

/** Characters of a message that are kept; the events and `lastOperation` have all of it. */
const maxMessage = 160;

/**
 * Whether an operation is recorded in the history: those that ended, and findings of the health check. Intermediate steps are not: a deletion alone
 * would fill the list.
 */
const belongsInHistory = ({ state, type }: LastOperation): boolean => state !== "Processing" || type === "HealthCheck";

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

/**
 * The status with another phase. The time changes only with the phase, because health and in-place timeouts count from it, and a
 * preservation outlives a change of phase.
 */
export function withPhase(status: MachineStatus, phase: MachinePhase, now: Date, timeoutActive = false): MachineStatus {
  const before = status.currentStatus;
  if (before?.phase === phase && (before.timeoutActive ?? false) === timeoutActive) return status;
  return {
    ...status,
    currentStatus: {
      ...before,
      phase,
      timeoutActive,
      lastUpdateTime: before?.phase === phase && before.lastUpdateTime != null ? before.lastUpdateTime : apiTime(now),
    },
  };
}

/**
 * The status with another last operation; the same status, including its time, when nothing changes. The details are written with a new description only, and are not compared: MCM's
 * CustomResourceDefinition prunes them.
 */
export function withOperation(status: MachineStatus, update: OperationUpdate, now: Date): MachineStatus {
  const before = status.lastOperation;
  const isSameText = isReported(status, update.description, update.stage);
  const isSame =
    before?.state === update.state && before?.type === update.type && before?.errorCode === update.errorCode;
  if (isSameText && isSame) return status;
  const lastOperation = newOperation(update, apiTime(now));
  const updated = { ...status, lastOperation };
  if (isSameText || isNextAttempt(status, updated)) return updated;
  return belongsInHistory(lastOperation) ? withHistory(updated, entryOf(lastOperation, now)) : updated;
}

export const statusOf = (machine: Machine): MachineStatus => machine.status ?? {};

/** Replaces the text of the last operation; its type is kept, as in MCM. */
export const withText = (
  status: MachineStatus,
  description: OperationEvents,
  now: Date,
  state: OperationUpdate["state"] = status.lastOperation?.state ?? "Processing",
): MachineStatus =>
  withOperation(status, { description, state, type: status.lastOperation?.type ?? "HealthCheck" }, now);
