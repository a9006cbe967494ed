import { isMachineError } from "@millwright/core";
import { type AttemptFailure, fieldOf, isAnswerTooLong } from "@millwright/core/driver-kit";
import { isCapacityCode } from "./error-codes.ts";
import { computeEngine, GceFailure, NoAnswer } from "./gce-failure.ts";

/** What a failed attempt of a request means. All requests may be repeated: those that change something carry a request id. */
export function readAttemptFailure(failure: unknown): AttemptFailure {
  if (failure instanceof NoAnswer) return readAttemptFailure(failure.cause);
  const isThrottled = isRateLimited(failure) && failure.service === computeEngine;
  return {
    outcome: outcomeOf(failure),
    kind: isThrottled ? "throttled" : isTransient(failure) ? "transient" : "final",
    retryAfterMs: failure instanceof GceFailure ? failure.retryAfterMs : undefined,
  };
}

/** Rate limits come with status 403 and with 429 (https://cloud.google.com/compute/api-quota). */
const isRateLimited = (failure: unknown): failure is GceFailure =>
  failure instanceof GceFailure &&
  !isCapacityCode(failure.reason) &&
  (failure.status === 429 || /rateLimitExceeded|RATE_LIMIT/i.test(failure.reason));

/** Whether a request may do better the next time. */
function isTransient(failure: unknown): boolean {
  if (isMachineError(failure) || isAnswerTooLong(failure) || fieldOf(failure, "name") === "TimeoutError") return false;
  if (!(failure instanceof GceFailure)) return true;
  const { status, reason } = failure;
  if (isCapacityCode(reason)) return false;
  return status >= 500 || status === 408 || isRateLimited(failure) || (status < 300 && reason === "");
}

/** Outcome of a request, one word for metrics. */
function outcomeOf(failure: unknown): string {
  if (failure instanceof GceFailure) return failure.reason === "" ? `status ${failure.status}` : failure.reason;
  if (isMachineError(failure)) return failure.code;
  const cause = fieldOf(failure, "cause");
  const code = fieldOf(cause, "code") ?? fieldOf(failure, "name");
  return typeof code === "string" ? code : "unknown";
}
