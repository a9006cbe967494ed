import { isMachineError, MachineError, type MachineErrorOptions } from "@millwright/core";
import { abortedCall, failureWithoutAnswer, fieldOf } from "@millwright/core/driver-kit";
import { machineCodeOf, remedyOf } from "./error-codes.ts";
import { computeEngine, GceFailure, NoAnswer } from "./gce-failure.ts";

/** Messages reach the status of a machine; the contract allows 4 KiB. */
const longestMessage = 2_000;

/** Takes out what differs from try to try. */
const steady = (message: string): string =>
  message
    .replaceAll(/\s*\(?request ?id: [0-9a-f-]+\)?/gi, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, longestMessage);

/**
 * The error of the contract for an error of Google.
 *
 * @param what what was tried, with its scope: `creating n2-standard-2 in europe-west1-b (my-project)`
 */
export function googleError(
  error: { readonly code: string; readonly status: number; readonly message: string },
  what: string,
  options: MachineErrorOptions = {},
): MachineError {
  const { code, status, message } = error;
  const remedy = remedyOf(code, message);
  const text = `${what}: ${steady(message)}${code === "" ? "" : ` (${code})`}${remedy === undefined ? "" : `; ${remedy}`}`;
  return new MachineError(machineCodeOf(code, status, message), text, options);
}

/**
 * Converts an error of a call to the error of the contract.
 *
 * @param what what was tried, with its scope
 */
export function toMachineError(error: unknown, signal: AbortSignal, what: string): MachineError {
  if (isMachineError(error)) return error;
  if (signal.aborted) return abortedCall(signal, what);
  if (error instanceof GceFailure) {
    const { reason, status, message, retryAfterMs, service } = error;
    const options = { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    if (reason === "") return new MachineError("Unavailable", `${what}: ${service} sent ${message}`, options);
    return googleError({ code: reason, status, message }, what, options);
  }
  const [code, text] =
    error instanceof NoAnswer ? withoutAnswer(error.cause, error.service) : withoutAnswer(error, computeEngine);
  return new MachineError(code, `${what}: ${steady(text)}`, { cause: error });
}

function withoutAnswer(error: unknown, service: string): ReturnType<typeof failureWithoutAnswer> & {} {
  // `fetch` wraps what it failed of.
  const cause = fieldOf(error, "cause");
  const known = cause instanceof Error ? failureWithoutAnswer(cause, service) : undefined;
  if (known !== undefined) return known;
  const isFetch = error instanceof TypeError && cause !== undefined;
  const own = isFetch ? undefined : failureWithoutAnswer(error, service);
  if (own !== undefined) return own;
  const reason = cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
  return ["Unavailable", `${service} sent an unreadable response: ${reason}`];
}
