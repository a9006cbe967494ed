import type { MachineStatus } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { later, testNow } from "../testing/snapshots.ts";
import { entryOf, withHistory, withOperation } from "./status-change.ts";

const failure = { type: "Create", state: "Failed", errorCode: "ResourceExhausted", description: "no quota" } as const;

describe("the history of a machine", () => {
  it("records a failure with its code and message", () => {
    expect(withOperation({}, failure, testNow).history).toEqual([
      { time: "2026-01-01T00:10:00Z", operation: "Create", outcome: "ResourceExhausted", message: "no quota" },
    ]);
  });

  it("grows with each change of the description, and not when it is the same", () => {
    const once = withOperation({}, failure, testNow);
    expect(withOperation(once, failure, later(1_000))).toBe(once);
    const { errorCode: _, ...success } = failure;
    const after = withOperation(once, { ...success, state: "Successful", description: "joined" }, later(2_000));
    expect(after.history?.map(({ outcome }) => outcome)).toEqual(["ResourceExhausted", "Successful"]);
  });

  it("leaves out steps on the way, except what the health check noticed", () => {
    expect(withOperation({}, { type: "Delete", state: "Processing", description: "x" }, testNow)).not.toHaveProperty(
      "history",
    );
    const noticed = withOperation({}, { type: "HealthCheck", state: "Processing", description: "x" }, testNow);
    expect(noticed.history).toMatchObject([{ operation: "HealthCheck", outcome: "Processing" }]);
  });

  it("keeps the last ten, however many failures there are", () => {
    let status: MachineStatus = {};
    for (let attempt = 1; attempt <= 25; attempt++)
      status = withOperation(status, { ...failure, description: `attempt ${attempt}` }, later(attempt * 1_000));
    expect(status.history?.map(({ message }) => message)).toEqual(
      Array.from({ length: 10 }, (_, index) => `attempt ${index + 16}`),
    );
  });

  it("cuts a message without end", () => {
    const { message = "" } = entryOf({ ...failure, description: "x".repeat(10_000) }, testNow);
    expect(message).toHaveLength(160);
    expect(message.endsWith("…")).toBe(true);
  });

  it("reads what others left out as nothing", () => {
    expect(withHistory({}, entryOf({}, testNow)).history).toEqual([
      { time: "2026-01-01T00:10:00Z", operation: "", outcome: "", message: "" },
    ]);
  });
});
