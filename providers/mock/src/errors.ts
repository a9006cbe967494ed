import { MachineError, isMachineError } from "@millwright/core";
import { isCloudError } from "./cloud-error.ts";

/** Messages reach the status of a machine; the contract allows 4 KiB. */
const longestMessage = 2000;

/**
 * Turns whatever a call of the cloud threw into the error that the controller acts on. The cloud's codes are the contract's, with one exception:
 * a passed deadline and a stopping process look the same to the cloud; the signal distinguishes them.
 */
export function toMachineError(error: unknown, signal: AbortSignal): MachineError {
  if (isMachineError(error)) return error;
  if (signal.aborted) return abortedError(signal);
  if (isCloudError(error)) {
    return new MachineError(error.code, error.message, {
      cause: error,
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new MachineError("Internal", message.slice(0, longestMessage), { cause: error });
}

function abortedError(signal: AbortSignal): MachineError {
  const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return timedOut
    ? new MachineError("DeadlineExceeded", "the simulated cloud did not respond before the deadline of the call", {
        cause: signal.reason,
      })
    : new MachineError("Aborted", "the call was aborted before the simulated cloud responded", {
        cause: signal.reason,
      });
}
