import { isMachineError, type Random } from "@millwright/core";
import { fieldOf, isAnswerTooLong, longestRetryPauseMs, maxAttempts, retryPauseMs } from "@millwright/core/driver-kit";
import { isCapacityCode } from "./error-codes.ts";
import { GceFailure, NoAnswer } from "./gce-failure.ts";

/**
 * How long to wait before a request is sent once more, with full jitter; undefined when it is not worth it, or Google asks to wait longer. All requests may be repeated: those that
 * change something carry a request id.
 *
 * @param attempt number of the one to come; the first was 1
 */
export function pauseBefore(attempt: number, failure: unknown, random: Random): number | undefined {
  if (attempt > maxAttempts || !isPassing(failure)) return undefined;
  return retryPauseMs(attempt - 1, isThrottled(failure), random);
}

/** Whether a request may do better the next time. */
function isPassing(failure: unknown): boolean {
  if (failure instanceof NoAnswer) return isPassing(failure.cause);
  if (isMachineError(failure) || isAnswerTooLong(failure) || fieldOf(failure, "name") === "TimeoutError") return false;
  if (!(failure instanceof GceFailure)) return true;
  const { status, reason, retryAfterMs = 0 } = failure;
  if (isCapacityCode(reason) || retryAfterMs > longestRetryPauseMs) return false;
  return status >= 500 || status === 408 || isThrottled(failure) || (status < 300 && reason === "");
}

const isThrottled = (failure: unknown): boolean =>
  failure instanceof GceFailure && (failure.status === 429 || /rateLimitExceeded|RATE_LIMIT/i.test(failure.reason));

/** What became of a request, in one word for metrics. */
export function outcomeOf(failure: unknown): string {
  if (failure instanceof NoAnswer) return outcomeOf(failure.cause);
  if (failure instanceof GceFailure) return failure.reason === "" ? `status ${failure.status}` : failure.reason;
  if (isMachineError(failure)) return failure.code;
  const cause = fieldOf(failure, "cause");
  const code = fieldOf(cause, "code") ?? fieldOf(failure, "name");
  return typeof code === "string" ? code : "unknown";
}
