import type { MachineErrorCode } from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import { failed, later, testNow } from "../testing/snapshots.ts";
import type { OperationKind } from "./operation.ts";
import { backoffMs, jitterOf, msUntilRetry } from "./retry.ts";

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

describe("msUntilRetry", () => {
  test.each(rows)("%s of a %s call is tried again after %i ms", (code, kind, delay) => {
    expect(msUntilRetry(failed(kind, code), inputs, testNow)).toBe(delay);
    expect(msUntilRetry(failed(kind, code), inputs, later(delay - 1))).toBe(1);
    expect(msUntilRetry(failed(kind, code), inputs, later(delay + 1))).toBe(0);
  });

  it("waits longer when the cloud requests it, never shorter", () => {
    expect(msUntilRetry(failed("create", "Unavailable", { retryAfterMs: 60_000 }), inputs, testNow)).toBe(60_000);
    expect(msUntilRetry(failed("create", "Unavailable", { retryAfterMs: 1 }), inputs, testNow)).toBe(5_000);
  });

  it("ends when the inputs of the call have changed", () => {
    expect(msUntilRetry(failed("create", "Internal"), "class-2/secret-1", testNow)).toBe(0);
  });
});

describe("the delays of one call", () => {
  const after = (code: MachineErrorCode, failures: number, jitter = 0) =>
    backoffMs({ code, kind: "create", failures, jitter });

  it("double with each attempt up to those of MCM", () => {
    const row = (code: MachineErrorCode) =>
      [1, 2, 3, 4, 5, 6, 50, 5_000].map((failures) => after(code, failures) / 1_000);
    expect(row("Unavailable")).toEqual([1, 2, 4, 5, 5, 5, 5, 5]);
    expect(row("Internal")).toEqual([10, 20, 40, 80, 160, 180, 180, 180]);
    expect(row("ResourceExhausted")).toEqual([30, 60, 120, 240, 480, 600, 600, 600]);
  });

  it("are up to a fifth shorter, so that machines that failed together do not retry together", () => {
    expect(after("Internal", 6, 1)).toBe(144_000);
    expect(after("Internal", 6, 0.5)).toBe(162_000);
  });

  it("end at the configured period for quota and capacity", () => {
    expect(backoffMs({ code: "ResourceExhausted", kind: "create", failures: 9, jitter: 0 }, 540_000)).toBe(540_000);
  });

  it("are short for an initialization: the VM costs money and is not in service", () => {
    expect(backoffMs({ code: "Internal", kind: "initialize", failures: 9, jitter: 0 })).toBe(5_000);
    const unknownVm = [1, 2, 9].map((failures) =>
      backoffMs({ code: "NotFound", kind: "initialize", failures, jitter: 0 }),
    );
    expect(unknownVm).toEqual([5_000, 10_000, 600_000]);
  });
});

describe("jitterOf", () => {
  it("is the same for the same text, and spreads neighbours over all of 0 to 1", () => {
    expect(jitterOf("uid/1")).toBe(jitterOf("uid/1"));
    const values = Array.from({ length: 1_000 }, (_, index) => jitterOf(`uid-${index}/1`));
    expect(Math.min(...values)).toBeLessThan(0.02);
    expect(Math.max(...values)).toBeGreaterThan(0.98);
    const tenths = values.map((value) => Math.floor(value * 10));
    for (let tenth = 0; tenth < 10; tenth++) expect(tenths.filter((each) => each === tenth).length).toBeGreaterThan(50);
  });
});
