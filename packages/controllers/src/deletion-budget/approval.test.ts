import { annotationKeys } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { approvalOf, isApprovedBy } from "./approval.ts";

const now = new Date("2026-01-01T12:00:00Z");
const withValue = (value: string) => ({
  metadata: { name: "m", annotations: { [annotationKeys.approveDeletions]: value } },
});

describe("approvalOf", () => {
  it.each([
    ["2026-01-01T12:00:01Z", "approved"],
    ["2026-01-01T13:00:00+02:00", "expired"],
    ["2026-01-01T11:00:00-02:00", "approved"],
    ["2026-01-01T12:00:00Z", "expired"],
    ["2026-01-01T12:30:00.5Z", "approved"],
    ["true", "malformed"],
    ["", "malformed"],
    ["2027", "malformed"],
    ["2027-01-01", "malformed"],
    ["2027-01-01T00:00:00", "malformed"],
    ["2027-13-01T00:00:00Z", "malformed"],
  ])("takes %j for %s", (value, state) => {
    expect(approvalOf(withValue(value), now).state).toBe(state);
    expect(isApprovedBy([undefined, { metadata: { name: "other" } }, withValue(value)], now)).toBe(
      state === "approved",
    );
  });
});
