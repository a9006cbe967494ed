import { isMachineError, MachineError, type MachineErrorCode } from "@millwright/core";
import { abortedCall, failureWithoutAnswer, fieldOf } from "@millwright/core/driver-kit";
import { machineCodeOf, remedyOf } from "./error-codes.ts";
import { headerIn, requestIdsIn } from "./request-ids.ts";
import { isOperationInProgress } from "./operation-in-progress.ts";
import { explainTokenFailure, isTokenFailure } from "./token-failure.ts";

/** Messages reach the status of a machine; the contract allows 4 KiB. */
const longestMessage = 2_000;

/** The fields of an error of the SDKs. */
export interface SdkFailure {
  /** Code of ARM or of the system; empty when there is none. */
  readonly code: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

const headersOf = (error: unknown): unknown => fieldOf(fieldOf(error, "response"), "headers");

/** Reads an error of the SDKs without trusting its shape. */
export function readSdkFailure(error: unknown): SdkFailure {
  const code = fieldOf(error, "code");
  const status = fieldOf(error, "statusCode");
  const known = fieldOf(error, "retryAfterMs");
  return {
    // An answer without a body has its code in a header alone.
    code: typeof code === "string" ? code : (headerIn(headersOf(error), "x-ms-error-code") ?? ""),
    status: typeof status === "number" ? status : 0,
    retryAfterMs: typeof known === "number" ? known : undefined,
  };
}

/** Codes with status 404 that do not mean that the resource is missing. */
const notAboutResource: ReadonlySet<string> = new Set([
  "InvalidRequestUri",
  "InvalidResourceNamespace",
  "InvalidResourceType",
  "SubscriptionNotFound",
]);

/** Whether Azure answered that something does not exist: the resource, or the resource group that it would be in. A 404 without a code is that of a proxy. */
export const isMissing = (error: unknown): boolean => {
  const { code, status } = readSdkFailure(error);
  return status === 404 && code !== "" && !notAboutResource.has(code);
};

/** Takes out what differs from try to try. */
const steady = (message: string): string =>
  message
    .replaceAll(/\s*(Trace|Correlation|Tracking|Activity|Request) ?ID:? *'?[0-9a-f-]+'?\.?/gi, "")
    .replaceAll(/\s*Timestamp: *\d{4}-\d\d-\d\d[T ][\d:.]+Z?/gi, "")
    .slice(0, longestMessage)
    .trim();

/** An error without the request that it came from: that holds the user data. */
function withoutRequest(error: unknown): unknown {
  if (!(error instanceof Error) || fieldOf(error, "request") === undefined) return error;
  const { code, status } = readSdkFailure(error);
  const requestIds = requestIdsIn(headersOf(error));
  return Object.assign(new Error(error.message), { name: error.name, code, statusCode: status, requestIds });
}

/**
 * Turns whatever a call threw into the error that the controller acts on.
 *
 * @param what what was tried, with its scope: `creating Standard_D2s_v5 in zone 1 (westeurope)`
 */
export function toMachineError(error: unknown, signal: AbortSignal, what: string): MachineError {
  if (isMachineError(error)) return error;
  if (isOperationInProgress(error)) {
    const { message } = error instanceof Error ? error : { message: "" };
    return new MachineError("DeadlineExceeded", `${what}: ${message}`, { cause: error });
  }
  if (signal.aborted) return abortedCall(signal, what);
  const { code, status, retryAfterMs } = readSdkFailure(error);
  const message = error instanceof Error ? error.message : String(error);
  const options = { cause: withoutRequest(error), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (isTokenFailure(error)) {
    const [tokenCode, text] = explainTokenFailure(error);
    return new MachineError(tokenCode, `${what}: ${steady(text)}`, options);
  }
  if (status === 0) {
    const [machineCode, text] = withoutAnswer(code, error, message);
    return new MachineError(machineCode, `${what}: ${steady(text)}`, options);
  }
  // A body that is no answer of ARM: a proxy's page, or half an answer.
  if (code === "PARSE_ERROR" || (code === "" && (status >= 500 || status === 404))) {
    return new MachineError("Unavailable", `${what}: Azure sent an unreadable response with status ${status}`, options);
  }
  const remedy = remedyOf(code, message);
  const text = `${what}: ${steady(message)}${code === "" ? ` (status ${status})` : ` (${code})`}${remedy === undefined ? "" : `; ${remedy}`}`;
  return new MachineError(machineCodeOf(code, status, message), text, options);
}

/** The message of the SDK for a failed operation, where it hides the code. */
const hiddenFailure = /^The long-running operation has failed\.? *(?:([A-Za-z]+)\. )?(.*)$/s;

function withoutAnswer(code: string, error: unknown, message: string): readonly [MachineErrorCode, string] {
  const [isHidden, hiddenCode = "", text = ""] = hiddenFailure.exec(message) ?? [];
  if (isHidden !== undefined) {
    const remedy = remedyOf(hiddenCode, text);
    const shown = `${text} (${hiddenCode || "no code"})${remedy === undefined ? "" : `; ${remedy}`}`;
    return [machineCodeOf(hiddenCode, 0, text), shown];
  }
  if (code === "REQUEST_SEND_ERROR" || fieldOf(error, "name") === "AbortError") {
    // The signal of the call has not aborted, so it was the time limit of the request.
    if (fieldOf(error, "name") === "AbortError") return ["DeadlineExceeded", "Azure did not respond in time"];
  }
  return failureWithoutAnswer(error, "Azure", code) ?? ["Unavailable", `Azure sent an unreadable response: ${message}`];
}
