import type { LastOperation, Machine, MachinePhase, MachineStatus } from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { entryOf, isRemembered, withHistory } from "./history.ts";

/** What a machine's status is to say about its last operation; the time follows. */
export type OperationText = Pick<LastOperation, "description" | "errorCode" | "state" | "type">;

/**
 * The status with another phase. The time of the phase moves only with the phase, because health and in-place timeouts run from it, and a
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

/** The status with another last operation; unchanged, its time included, when it says the same already. */
export function withOperation(status: MachineStatus, operation: OperationText, now: Date): MachineStatus {
  const before = status.lastOperation;
  const isSame =
    before?.description === operation.description &&
    before?.state === operation.state &&
    before?.type === operation.type &&
    before?.errorCode === operation.errorCode;
  if (isSame) return status;
  const updated = { ...status, lastOperation: { ...operation, lastUpdateTime: apiTime(now) } };
  return isRemembered(operation) ? withHistory(updated, entryOf(operation, now)) : updated;
}

export const statusOf = (machine: Machine): MachineStatus => machine.status ?? {};

/** Another text of the last operation; its type stays, as in MCM. */
export const withText = (
  status: MachineStatus,
  description: string,
  now: Date,
  state: OperationText["state"] = status.lastOperation?.state ?? "Processing",
): MachineStatus =>
  withOperation(status, { description, state, type: status.lastOperation?.type ?? "HealthCheck" }, now);
