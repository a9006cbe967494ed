import type { MachineError, MachineErrorOptions } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import { isCapacityCode } from "./error-codes.ts";
import { googleError } from "./errors.ts";

/** What went wrong in an operation. */
export interface OperationError {
  readonly code: string;
  readonly message: string;
  /** Compute Engine's hint where the missing capacity is available; empty if there is none. */
  readonly zonesAvailable: string;
}

/** Something that goes on in a zone, as far as the driver looks at it. */
export interface Operation {
  /** Name or id: both find it. */
  readonly name: string;
  readonly isDone: boolean;
  /** Names the instance at its end. */
  readonly targetLink: string;
  readonly targetId: string;
  readonly errors: readonly OperationError[];
  /** HTTP status of a failure; 0 when there is none. */
  readonly httpStatus: number;
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? `${value}` : "";

/** Reads an operation without trusting its shape: the SDK's types know too little of those that come back from an insertion. */
export function readOperation(value: unknown): Operation {
  const errors = fieldOf(fieldOf(value, "error"), "errors");
  const httpStatus = fieldOf(value, "httpErrorStatusCode");
  return {
    name: textOf(fieldOf(value, "name")),
    isDone: fieldOf(value, "status") === "DONE",
    targetLink: textOf(fieldOf(value, "targetLink")),
    targetId: textOf(fieldOf(value, "targetId")),
    errors: Array.isArray(errors)
      ? errors.map((error: unknown) => ({
          code: textOf(fieldOf(error, "code")),
          message: textOf(fieldOf(error, "message")),
          zonesAvailable: zonesAvailableOf(fieldOf(error, "errorDetails")),
        }))
      : [],
    httpStatus: typeof httpStatus === "number" ? httpStatus : 0,
  };
}

function zonesAvailableOf(details: unknown): string {
  if (!Array.isArray(details)) return "";
  const zones = details.map((detail: unknown) =>
    textOf(fieldOf(fieldOf(fieldOf(detail, "errorInfo"), "metadatas"), "zonesAvailable")),
  );
  return zones.find((text) => text !== "") ?? "";
}

/** Whether an operation has failed. */
export const hasFailed = ({ errors, httpStatus }: Operation): boolean => errors.length > 0 || httpStatus >= 400;

/** Whether an operation failed because its resource does not exist: a deletion, because another client was faster. */
export const isTargetMissing = ({ errors }: Operation): boolean =>
  errors.length > 0 && errors.every(({ code }) => code === "RESOURCE_NOT_FOUND");

/**
 * The error of a failed operation. Of several a lack of capacity counts, or else the last, as in MCM; all messages are in the text.
 *
 * @param what what was tried, with its scope
 */
export function operationError(
  { errors, httpStatus }: Operation,
  what: string,
  options: MachineErrorOptions = {},
): MachineError {
  const decisive = errors.findLast(({ code }) => isCapacityCode(code)) ?? errors.at(-1);
  const text = errors
    .flatMap(({ message, zonesAvailable }) => [message, zonesAvailable && `there is some in ${zonesAvailable}`])
    .filter((part) => part !== "")
    .join("; ");
  return googleError(
    { code: decisive?.code ?? "", status: httpStatus, message: text === "" ? "the operation failed" : text },
    what,
    options,
  );
}
