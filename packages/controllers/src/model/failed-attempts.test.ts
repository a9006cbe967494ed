import { describe, expect, it } from "vitest";
import { failed, later, testNow } from "../testing/snapshots.ts";
import { withAttempts, withoutAttempts } from "./failed-attempts.ts";

const text = "Cloud provider message - machine codes error: code = [Internal] message = [no luck]";

/** The texts of a status after each attempt of a call that fails every `everyMs`, and how often it was written. */
function report(attempts: number, everyMs: number, textOf: (attempt: number) => string = () => text) {
  let description = textOf(1);
  let lastUpdateTime = testNow.toISOString();
  const writes: number[] = [];
  for (let failures = 2; failures <= attempts; failures++) {
    const now = later((failures - 1) * everyMs);
    const operation = failed("create", "Internal", { failures, endedAt: now.getTime() });
    const context = { last: { description, lastUpdateTime }, requeueAfterMs: everyMs, now };
    const next = withAttempts(textOf(failures), operation, context);
    if (next === description) continue;
    description = next;
    lastUpdateTime = now.toISOString();
    writes.push(failures);
    // Until the next attempt it stays.
    const acknowledged = { ...operation, isAcknowledged: true };
    const last = { description, lastUpdateTime };
    expect(withAttempts(textOf(failures), acknowledged, { ...context, last })).toBe(description);
  }
  return { description, writes };
}

describe("the attempts in a text about a failure", () => {
  it("are reported at growing intervals, with the first, the last and the next one", () => {
    const { description, writes } = report(100, 10_000);
    expect(writes).toEqual([2, 4, 8, 16, 32, 64]);
    expect(description).toBe(
      `${text} (attempt 64 failed at 2026-01-01T00:20:30Z, the first at 2026-01-01T00:10:00Z; next attempt at 2026-01-01T00:20:40Z)`,
    );
    expect(withoutAttempts(description)).toBe(text);
  });

  it("are reported at growing intervals also when the text has another request id each time", () => {
    const id = (attempt: number): string => `(request ${attempt.toString(16).padStart(16, "0")})`;
    const { description, writes } = report(100, 10_000, (attempt) => `${text} ${id(attempt)}`);
    expect(writes).toEqual([2, 4, 8, 16, 32, 64]);
    expect(withoutAttempts(description)).toBe(`${text} ${id(1)}`);
  });

  it("are reported once an hour at least, so that a process that ended can be distinguished from one that retries", () => {
    expect(report(100, 180_000).writes).toEqual([2, 4, 8, 16, 32, 52, 64, 84]);
  });

  it("are absent from the first failure, and from another one than the last", () => {
    const context = { last: undefined, requeueAfterMs: 0, now: testNow };
    expect(withAttempts(text, failed("create", "Internal", { failures: 1 }), context)).toBe(text);
    const last = { description: `${text} (attempt 8 failed at a, the first at b; next attempt at c)` };
    expect(withAttempts("other", failed("create", "Internal", { failures: 16 }), { ...context, last })).toBe("other");
  });
});
