import type { MachineStatus } from "../api/kinds/machine.ts";
import type { LastOperation } from "../api/kinds/operation.ts";
import type { DeletionStage } from "../wire/deletion-stages.ts";
import { detailsOf, type OperationEvents, renderOperation } from "./operation-events.ts";
import { readOperation } from "./read-operation.ts";

/** Desired last operation; its text and time follow. */
export interface OperationUpdate extends Pick<LastOperation, "errorCode" | "state" | "type"> {
  /** What the description reports. */
  readonly description: OperationEvents;
  /** The stage of a deletion that runs next. */
  readonly stage?: DeletionStage;
}

/** The last operation to write, with its details. `time`: RFC 3339. */
export function newOperation(
  { description: events, stage, ...operation }: OperationUpdate,
  time: string,
): NonNullable<MachineStatus["lastOperation"]> {
  const details = detailsOf(events, stage);
  const described = { ...operation, description: renderOperation(events, stage), lastUpdateTime: time };
  return details === undefined ? described : { ...described, details: { ...details, time } };
}

/** Whether the description of a status is already the text of these events. All such comparisons are made here, so that each event is recorded once. */
export const isReported = (
  { lastOperation }: Pick<MachineStatus, "lastOperation">,
  events: OperationEvents,
  stage?: DeletionStage,
): boolean => lastOperation?.description === renderOperation(events, stage);

/** Whether two statuses report attempts of the same call with the same result. */
export function isNextAttempt(before: MachineStatus, after: MachineStatus): boolean {
  const [a, b] = [readOperation(before), readOperation(after)];
  const fields = ["reason", "stage", "message", "unreachableNode"] as const;
  return (a.attempts ?? b.attempts) !== undefined && fields.every((field) => a[field] === b[field]);
}
