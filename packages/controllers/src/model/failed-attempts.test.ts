import { eventsText, type FailureEvent, type MachineStatus, renderOperation } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { failed, later, testNow } from "../testing/snapshots.ts";
import { withAttempts } from "./failed-attempts.ts";
import { withOperation } from "./status-change.ts";

const text = "Cloud provider message - machine codes error: code = [Internal] message = [no luck]";
const failure = (message = "no luck"): FailureEvent => ({ reason: "CreationFailed", code: "Internal", message });

/** A status as the store of an API server keeps it: MCM's CustomResourceDefinition prunes the details. */
function stored(status: MachineStatus, isPruned: boolean): MachineStatus {
  const { details: _, ...lastOperation } = status.lastOperation ?? {};
  return isPruned ? { ...status, lastOperation } : status;
}

/** The last event of a call that fails every `everyMs`, and how often it was written. */
function report(attempts: number, everyMs: number, isPruned: boolean, messageOf?: (attempt: number) => string) {
  const write = (status: MachineStatus, description: FailureEvent, now: Date) =>
    withOperation(status, { description, type: "Create", state: "Failed" }, now);
  let event = failure(messageOf?.(1));
  let status = stored(write({}, event, testNow), isPruned);
  const writes: number[] = [];
  for (let failures = 2; failures <= attempts; failures++) {
    const now = later((failures - 1) * everyMs);
    const operation = failed("create", "Internal", { failures, endedAt: now.getTime() });
    const context = { requeueAfterMs: everyMs, now };
    event = withAttempts(failure(messageOf?.(failures)), operation, { ...context, status });
    const next = write(status, event, now);
    if (next === status) continue;
    status = stored(next, isPruned);
    writes.push(failures);
    // Until the next attempt it stays.
    const acknowledged = { ...operation, isAcknowledged: true };
    const again = withAttempts(failure(messageOf?.(failures)), acknowledged, { ...context, status });
    expect(write(status, again, now)).toBe(status);
  }
  return { event, description: status.lastOperation?.description, writes, history: status.history };
}

describe.each([
  ["stored", false],
  ["pruned by MCM's CustomResourceDefinition", true],
])("the attempts of a failure, with details that are %s,", (_, isPruned) => {
  it("are reported at growing intervals, with the first and the last one, and the pause", () => {
    const { event, description, writes, history } = report(100, 10_000, isPruned);
    expect(writes).toEqual([2, 4, 8, 16, 32, 64]);
    expect(description).toBe(
      `${text} (attempt 64 failed at 2026-01-01T00:20:30Z, the first at 2026-01-01T00:10:00Z; the next after 10s or more)`,
    );
    expect(eventsText(event)).toBe(text);
    expect(history).toHaveLength(1);
  });

  it("are reported at growing intervals also when the text has another request id each time", () => {
    const id = (attempt: number): string => `no luck (request ${attempt.toString(16).padStart(16, "0")})`;
    const { event, writes } = report(100, 10_000, isPruned, id);
    expect(writes).toEqual([2, 4, 8, 16, 32, 64]);
    expect(event.message).toBe(id(1));
  });

  it("are reported once an hour at least, so that a process that ended can be distinguished from one that retries", () => {
    expect(report(100, 180_000, isPruned).writes).toEqual([2, 4, 8, 16, 32, 52, 64, 84]);
  });
});

it("reports no attempts of the first failure, and of another one than the last", () => {
  const context = { status: undefined, requeueAfterMs: 0, now: testNow };
  const event = failure();
  expect(withAttempts(event, failed("create", "Internal", { failures: 1 }), context)).toBe(event);
  const description = `${text} (attempt 8 failed at a, the first at b; the next after 1m0s or more)`;
  const status = { lastOperation: { description } };
  const other = failure("other");
  expect(withAttempts(other, failed("create", "Internal", { failures: 16 }), { ...context, status })).toBe(other);
  const same = withAttempts(event, failed("create", "Internal", { failures: 17 }), { ...context, status });
  expect(renderOperation(same)).toBe(description);
});
