import { expect, test } from "vitest";
import { formatMicroTime } from "./lease.ts";
import { readElectionTimes } from "./settings.ts";

test("has the times of client-go", () => {
  expect(readElectionTimes()).toEqual({ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 });
});

test.each([
  [{ leaseDurationMs: 10_000 }, "renewDeadlineMs (10000) must be less than leaseDurationMs (10000)"],
  [{ retryPeriodMs: 9_000 }, "retryPeriodMs (9000) must be less than renewDeadlineMs (10000) divided by 1.2"],
  [{ leaseDurationMs: 15_500 }, "leaseDurationMs is 15500; must be whole seconds"],
  [{ renewDeadlineMs: 0 }, "renewDeadlineMs is 0; must be a positive number"],
  [{ retryPeriodMs: Number.NaN }, "retryPeriodMs is NaN; must be a positive number"],
  [{ leaseDurationMs: Infinity }, "leaseDurationMs is Infinity; must be a positive number"],
])("refuses %j", (times, message) => {
  expect(() => readElectionTimes(times)).toThrow(`leader election: ${message}`);
});

test("writes times with the six fraction digits that a kube-apiserver insists on", () => {
  expect(formatMicroTime(new Date("2026-11-21T10:00:00.12Z"))).toBe("2026-11-21T10:00:00.120000Z");
});
