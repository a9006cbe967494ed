import type { LastOperation, Machine, MachinePhase, MachineStatus } from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { withoutAttempts } from "./failed-attempts.ts";
import { entryOf, belongsInHistory, withHistory } from "./history.ts";

/** Desired last operation; its time follows. */
export type OperationText = Pick<LastOperation, "description" | "errorCode" | "state" | "type">;

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

/** The status with another last operation; the same status, including its time, when nothing changes. */
export function withOperation(status: MachineStatus, operation: OperationText, now: Date): MachineStatus {
  const before = status.lastOperation;
  const isSame =
    before?.description === operation.description &&
    before?.state === operation.state &&
    before?.type === operation.type &&
    before?.errorCode === operation.errorCode;
  if (isSame) return status;
  const updated = { ...status, lastOperation: { ...operation, lastUpdateTime: apiTime(now) } };
  // Another attempt with the same result.
  if (
    before?.description !== undefined &&
    withoutAttempts(before.description) === withoutAttempts(operation.description ?? "")
  )
    return updated;
  return belongsInHistory(operation) ? withHistory(updated, entryOf(operation, now)) : updated;
}

export const statusOf = (machine: Machine): MachineStatus => machine.status ?? {};

/** Replaces the text of the last operation; its type is kept, as in MCM. */
export const withText = (
  status: MachineStatus,
  description: string,
  now: Date,
  state: OperationText["state"] = status.lastOperation?.state ?? "Processing",
): MachineStatus =>
  withOperation(status, { description, state, type: status.lastOperation?.type ?? "HealthCheck" }, now);
