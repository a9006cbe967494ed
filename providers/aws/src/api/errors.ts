import { MachineError, type MachineErrorCode, isMachineError } from "@millwright/core";
import {
  abortedCall,
  failureWithoutAnswer,
  fieldOf,
  isAnswerTooLong,
  mayHaveSucceededBefore,
} from "@millwright/core/driver-kit";
import { CredentialsFailure, credentialsFailureText } from "./credentials-failure.ts";
import { isCapacityCode, machineCodeOf, remedies } from "./error-codes.ts";

/** Messages reach the status of a machine; the contract allows 4 KiB. */
const longestMessage = 2_000;

/** The fields of an error of the SDK. */
export interface SdkFailure {
  /** Code of EC2 or STS, or of the system. */
  readonly code: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** Reads an error of the SDK without trusting its shape. */
export function readSdkFailure(thrown: unknown): SdkFailure {
  const error = thrown instanceof CredentialsFailure ? thrown.cause : thrown;
  const name = fieldOf(error, "name");
  const system = fieldOf(error, "code");
  const isNamed =
    typeof name === "string" && !["Error", "TypeError", "TimeoutError", "Unknown", "SyntaxError"].includes(name);
  const status =
    fieldOf(fieldOf(error, "$metadata"), "httpStatusCode") ?? fieldOf(fieldOf(error, "$response"), "statusCode");
  const retryAfter = fieldOf(fieldOf(fieldOf(error, "$response"), "headers"), "retry-after");
  const seconds = typeof retryAfter === "string" && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return {
    code: isNamed ? name : typeof system === "string" ? system : typeof name === "string" ? name : "Unknown",
    status: typeof status === "number" ? status : 0,
    retryAfterMs: seconds === undefined ? undefined : seconds * 1_000,
  };
}

/**
 * Whether the body of a response is not from EC2: a proxy's page, or half an answer. The SDK names a response of 404 without a code `NotFound`, which is not a code of EC2: those
 * name what is missing.
 */
const isForeign = (code: string): boolean => ["Unknown", "Error", "SyntaxError", "NotFound"].includes(code);

/** Whether EC2 rejected with this code. */
export const hasErrorCode = (error: unknown, code: string): boolean => readSdkFailure(error).code === code;

/** Whether a launch has been rejected for sure, so that no VM comes of it. */
export function isLaunchRejected(error: unknown): boolean {
  const { code, status } = readSdkFailure(error);
  if (mayHaveSucceededBefore(error) || code === "IdempotentParameterMismatch" || isForeign(code)) return false;
  return isCapacityCode(code) || (status >= 400 && status < 500);
}

/** Removes parts that differ between attempts or are not readable. */
const steady = (message: string): string =>
  message
    .replaceAll(/\s*Encoded authorization failure message: \S+/g, "")
    .replaceAll(/\s*\(?Request ?ID: [0-9a-f-]+\)?/gi, "")
    .slice(0, longestMessage);

/**
 * Turns whatever a call threw into the error that the controller acts on.
 *
 * @param what what was tried, with its scope: `creating m5.large in subnet-1 (eu-west-1)`
 */
export function toMachineError(error: unknown, signal: AbortSignal, what: string): MachineError {
  if (isMachineError(error)) return error;
  if (signal.aborted) return abortedCall(signal, what);
  return error instanceof CredentialsFailure
    ? errorOf(error.cause, what, error.server.name, () => credentialsFailureText(error))
    : errorOf(error, what, "EC2", (code, message) => withoutAnswer(code, error, message));
}

/** The error for what a server answered, or, as `explain` has it, for an answer that did not come. */
function errorOf(
  error: unknown,
  what: string,
  server: string,
  explain: (code: string, message: string) => readonly [MachineErrorCode, string],
): MachineError {
  const { code, status, retryAfterMs } = readSdkFailure(error);
  const message = error instanceof Error ? error.message : String(error);
  const options = { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 0 || isAnswerTooLong(error)) {
    const [machineCode, text] = explain(code, message);
    return new MachineError(machineCode, `${what}: ${steady(text)}`, options);
  }
  if (code === "TimeoutError")
    return new MachineError("DeadlineExceeded", `${what}: ${server} did not respond in time`, options);
  if (isForeign(code)) {
    return new MachineError(
      "Unavailable",
      `${what}: ${server} sent an unreadable response with status ${status}`,
      options,
    );
  }
  const remedy = remedies[code];
  const from = server === "EC2" ? "" : `${server}: `;
  const text = `${what}: ${from}${steady(message)} (${code})${remedy === undefined ? "" : `; ${remedy}`}`;
  return new MachineError(machineCodeOf(code, status, message), text, options);
}

function withoutAnswer(code: string, error: unknown, message: string): readonly [MachineErrorCode, string] {
  if (code === "CredentialsProviderError") return ["Unauthenticated", message];
  return failureWithoutAnswer(error, "EC2", code) ?? ["Unavailable", `EC2 sent an unreadable response: ${message}`];
}
