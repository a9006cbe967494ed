import { type AttemptFailure, fieldOf, isAnswerTooLong } from "@millwright/core/driver-kit";
import { CredentialsFailure } from "./credentials-failure.ts";
import { isCapacityCode, isThrottlingCode } from "./error-codes.ts";
import { readSdkFailure } from "./errors.ts";

/**
 * What a failed attempt of a request means. All requests may be repeated: one that makes a VM carries a token. A lack of capacity comes as a server error too, but another attempt does not
 * help.
 */
export function readAttemptFailure(error: unknown): AttemptFailure {
  const { code, status, retryAfterMs } = readSdkFailure(error);
  // Sources of credentials repeat their requests by themselves.
  if (error instanceof CredentialsFailure) return { outcome: code, kind: "final" };
  const isThrottled = isThrottlingCode(code) || status === 429;
  const isFinal = isCapacityCode(code) || isAnswerTooLong(error) || !isTransient(error, code, status);
  return { outcome: code, kind: isThrottled ? "throttled" : isFinal ? "final" : "transient", retryAfterMs };
}

function isTransient(error: unknown, code: string, status: number): boolean {
  // The SDK signs the next attempt by the clock of EC2.
  if (fieldOf(fieldOf(error, "$metadata"), "clockSkewCorrected") === true) return true;
  // Connections that broke, also in the middle of an answer, or never came to be.
  if (code === "TimeoutError" || /^E[A-Z_]+$/.test(code)) return true;
  return status >= 500 || status === 408;
}
