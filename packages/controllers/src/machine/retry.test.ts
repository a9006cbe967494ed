import type { MachineErrorCode } from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import { failed, later, testNow } from "../testing/snapshots.ts";
import type { OperationKind } from "./operation.ts";
import { untilRetry } from "./retry.ts";

const inputs = "class-1/secret-1";
const rows: readonly [MachineErrorCode, OperationKind, number][] = [
  ["Unknown", "create", 5_000],
  ["DeadlineExceeded", "find", 5_000],
  ["Aborted", "delete", 5_000],
  ["Unavailable", "create", 5_000],
  ["ResourceExhausted", "create", 600_000],
  ["Internal", "create", 180_000],
  ["InvalidArgument", "find", 180_000],
  ["PermissionDenied", "delete", 600_000],
  ["OK", "create", 180_000],
  ["OK", "delete", 600_000],
];

describe("untilRetry", () => {
  test.each(rows)("%s of a %s call is tried again after %i ms", (code, kind, delay) => {
    expect(untilRetry(failed(kind, code), inputs, testNow)).toBe(delay);
    expect(untilRetry(failed(kind, code), inputs, later(delay - 1))).toBe(1);
    expect(untilRetry(failed(kind, code), inputs, later(delay + 1))).toBe(0);
  });

  it("waits longer when the cloud asks for it, never shorter", () => {
    expect(untilRetry(failed("create", "Unavailable", { retryAfterMs: 60_000 }), inputs, testNow)).toBe(60_000);
    expect(untilRetry(failed("create", "Unavailable", { retryAfterMs: 1 }), inputs, testNow)).toBe(5_000);
  });

  it("ends when what the call was made from has changed", () => {
    expect(untilRetry(failed("create", "Internal"), "class-2/secret-1", testNow)).toBe(0);
  });
});
