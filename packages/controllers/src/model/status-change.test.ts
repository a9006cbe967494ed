import { describe, expect, it } from "vitest";
import { later, testNow } from "../testing/snapshots.ts";
import { withOperation, withPhase } from "./status-change.ts";

const text = { description: "x", state: "Failed", type: "Create", errorCode: "Internal" } as const;

describe("withPhase", () => {
  const pending = withPhase({}, "Pending", testNow, true);

  it("dates a phase when it begins", () => {
    expect(pending.currentStatus).toEqual({
      phase: "Pending",
      timeoutActive: true,
      lastUpdateTime: "2026-01-01T00:10:00Z",
    });
  });

  it("returns the very same status when nothing changes", () => {
    expect(withPhase(pending, "Pending", later(1_000), true)).toBe(pending);
    const bare = { currentStatus: { phase: "Running" } };
    expect(withPhase(bare, "Running", testNow)).toBe(bare);
  });

  it("keeps the time of the phase when only the timeout ends", () => {
    expect(withPhase(pending, "Pending", later(60_000)).currentStatus).toMatchObject({
      timeoutActive: false,
      lastUpdateTime: "2026-01-01T00:10:00Z",
    });
    const undated = { currentStatus: { phase: "Pending" } };
    expect(withPhase(undated, "Pending", testNow, true).currentStatus?.lastUpdateTime).toBe("2026-01-01T00:10:00Z");
  });

  it("keeps a preservation", () => {
    const preserved = { currentStatus: { phase: "Failed", preserveExpiryTime: "2026-01-02T00:00:00Z" } };
    expect(withPhase(preserved, "Running", testNow).currentStatus?.preserveExpiryTime).toBe("2026-01-02T00:00:00Z");
  });
});

describe("withOperation", () => {
  const reported = withOperation({ lastKnownState: "s" }, text, testNow);

  it("sets its time and keeps the rest", () => {
    expect(reported).toMatchObject({
      lastKnownState: "s",
      lastOperation: { ...text, lastUpdateTime: "2026-01-01T00:10:00Z" },
    });
  });

  it("returns the very same status when nothing changes", () => {
    expect(withOperation(reported, text, later(60_000))).toBe(reported);
  });

  it.each([{ description: "y" }, { state: "Processing" }, { type: "Delete" }, { errorCode: "Unknown" }] as const)(
    "changes with another %o",
    (change) => {
      expect(withOperation(reported, { ...text, ...change }, later(60_000)).lastOperation).toEqual({
        ...text,
        ...change,
        lastUpdateTime: "2026-01-01T00:11:00Z",
      });
    },
  );

  it("clears a code that is outdated", () => {
    const { errorCode: _, ...success } = text;
    expect(withOperation(reported, success, later(1)).lastOperation).not.toHaveProperty("errorCode");
  });
});
