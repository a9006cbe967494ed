import type { EC2ClientConfig } from "@aws-sdk/client-ec2";
import type { Random } from "@millwright/core";
import { maxAttempts, retryPauseMs } from "@millwright/core/driver-kit";
import { isCapacityCode } from "./error-codes.ts";

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
      return Promise.resolve(token(count, retryPauseMs(count, errorType === "THROTTLING", random)));
    },
    recordSuccess: () => undefined,
  };
}
