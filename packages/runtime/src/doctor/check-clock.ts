import type { CheckOutcome } from "@millwright/core";

/**
 * Hosts that synchronize their clocks differ by milliseconds. With seconds between them one no longer does, and the difference grows.
 */
const WARN_MS = 5_000;

/**
 * Times in objects are compared with the time of the API server, which is measured all the time. But clouds reject requests that are signed minutes too early or too late, and other
 * programs that compare times in objects, such as MCM's, do not compensate for the difference.
 */
const FAIL_MS = 60_000;

/** The header `Date` has whole seconds, rounded down: the middle of that second is off by this much at most. */
const ROUNDING_MS = 500;

/** One exchange with a server, in milliseconds of the local wall clock, and what the server's clock showed. */
export interface ClockReading {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** Header `Date` of the answer. */
  readonly date: string | undefined;
}

const name = "Clock";

/** Compares the local clock with that of an API server. What may come from the way of the request is not counted. */
export function checkClock({ sentMs, receivedMs, date }: ClockReading): CheckOutcome {
  const serverMs = Date.parse(date ?? "") + ROUNDING_MS;
  if (Number.isNaN(serverMs))
    return { name, status: "skipped", message: "The API server sends no time (header Date) with its answers." };
  const aheadMs = (sentMs + receivedMs) / 2 - serverMs;
  const leastMs = Math.max(0, Math.abs(aheadMs) - ROUNDING_MS - (receivedMs - sentMs) / 2);
  if (leastMs < WARN_MS) return { name, status: "ok", message: "The local clock agrees with that of the API server." };
  return {
    name,
    status: leastMs < FAIL_MS ? "warning" : "failed",
    message: `The local clock is ${Math.round(leastMs / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"} that of the API server.`,
    remedy: "Synchronize the clocks of both hosts, for example with chrony.",
  };
}
