import { type AttemptFailure, fieldOf } from "@millwright/core/driver-kit";
import { ErrorAnswer } from "./error-answer.ts";

/** Connections that broke or never came to be: those that the SDK would repeat requests for. */
const connectionCodes = new Set(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "ESOCKETTIMEDOUT", "ETIMEDOUT"]);

/** The kind of a failed attempt. All requests can be retried: they declare a desired state, by name. */
export function readAttemptFailure(error: unknown): AttemptFailure {
  if (error instanceof ErrorAnswer) {
    const { response, isThrottled, retryAfterMs } = error;
    const isTransient = response.status >= 500 || response.status === 408 || response.status === 429;
    const kind = isThrottled ? "throttled" : isTransient ? "transient" : "final";
    return { outcome: String(response.status), kind, retryAfterMs };
  }
  const code = fieldOf(error, "code");
  if (typeof code !== "string") return { outcome: "error", kind: "final" };
  return { outcome: code, kind: connectionCodes.has(code) ? "transient" : "final" };
}
