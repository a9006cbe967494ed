import type { EC2ClientConfig } from "@aws-sdk/client-ec2";
import type { Random } from "@millwright/core";
import { isCapacityCode } from "./error-codes.ts";

/** How often the SDK sends a request at most. Beyond that the controller repeats the call, and shows why. */
export const maxAttempts = 3;

const baseMs = 100;
const throttledBaseMs = 500;
const longestMs = 2_000;

/**
 * Repetitions within one call: of throttling, server errors and broken connections, with full jitter. What says that there is no capacity comes as a server error
 * too, but asking again does not help.
 */
export function createRetryStrategy(random: Random): NonNullable<EC2ClientConfig["retryStrategy"]> {
  const token = (count: number, delayMs: number) => ({ getRetryCount: () => count, getRetryDelay: () => delayMs });
  return {
    mode: "standard",
    acquireInitialRetryToken: () => Promise.resolve(token(0, 0)),
    refreshRetryTokenForRetry: ({ getRetryCount }, { error, errorType }) => {
      const count = getRetryCount() + 1;
      const isHopeless = errorType === "CLIENT_ERROR" || isCapacityCode(error?.name ?? "");
      if (isHopeless || count >= maxAttempts) return Promise.reject(new Error("not worth another attempt"));
      const capMs = Math.min(longestMs, (errorType === "THROTTLING" ? throttledBaseMs : baseMs) * 2 ** count);
      return Promise.resolve(token(count, random.next() * capMs));
    },
    recordSuccess: () => undefined,
  };
}
