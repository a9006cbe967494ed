import {
  type DeletionStage,
  detailsOf,
  type LastOperation,
  type Machine,
  type MachinePhase,
  type MachineStatus,
  type OperationDetails,
  type OperationEvents,
  readOperation,
  renderOperation,
} from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { entryOf, belongsInHistory, withHistory } from "./history.ts";

/** Desired last operation; its text and time follow. */
export interface OperationUpdate extends Pick<LastOperation, "errorCode" | "state" | "type"> {
  /** What the description reports. */
  readonly description: OperationEvents;
  /** The stage of a deletion that runs next. */
  readonly stage?: DeletionStage;
}

/** Whether the description of a status is already the text of these events. Each event is compared here, so that it is recorded once. */
export const isReported = ({ lastOperation }: MachineStatus, events: OperationEvents, stage?: DeletionStage): boolean =>
  lastOperation?.description === renderOperation(events, stage);

/** Whether two operations are attempts of the same call with the same result. */
const isSameCall = (a: OperationDetails, b: OperationDetails): boolean =>
  (a.attempts ?? b.attempts) !== undefined &&
  a.reason === b.reason &&
  a.stage === b.stage &&
  a.message === b.message &&
  a.unreachableNode === b.unreachableNode;

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
export function withOperation(
  status: MachineStatus,
  { description: events, stage, ...operation }: OperationUpdate,
  now: Date,
): MachineStatus {
  const before = status.lastOperation;
  const isSameText = isReported(status, events, stage);
  const isSame =
    isSameText &&
    before?.state === operation.state &&
    before?.type === operation.type &&
    before?.errorCode === operation.errorCode;
  if (isSame) return status;
  const time = apiTime(now);
  const details = detailsOf(events, stage);
  const description = renderOperation(events, stage);
  const lastOperation = { ...operation, description, lastUpdateTime: time };
  const updated: MachineStatus = {
    ...status,
    lastOperation: details === undefined ? lastOperation : { ...lastOperation, details: { ...details, time } },
  };
  if (isSameText || isSameCall(readOperation(status), details ?? {})) return updated;
  return belongsInHistory(operation) ? withHistory(updated, entryOf(lastOperation, now)) : updated;
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
