import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approvalIn, type BoundApproval, formatApproval, parseApproval, readTime, shortUid } from "./approval.ts";

const time = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => new Date(seconds * 1_000).toISOString());
const common = {
  count: fc.integer({ min: 1, max: 9_999_999 }),
  uid: fc.uuid().map((uid) => shortUid({ uid })),
};
const options = { until: time, atATime: fc.integer({ min: 1, max: 9_999_999 }) };
const generation = fc.integer({ min: 1, max: 9_999_999 });
const approval: fc.Arbitrary<BoundApproval> = fc.oneof(
  fc.record(
    { ...common, ...options, work: fc.constantFrom("deletions" as const, "creations" as const), generation },
    { requiredKeys: ["count", "uid", "work", "generation"] },
  ),
  fc.record(
    { ...common, ...options, work: fc.constant("requests" as const), generation },
    { requiredKeys: ["count", "uid", "work"] },
  ),
  fc.record(
    { ...common, ...options, work: fc.constant("requests" as const), before: time },
    { requiredKeys: ["count", "uid", "work", "before"] },
  ),
);

describe("the value of an approval", () => {
  it("is read as it was written, also out of a message", () => {
    fc.assert(
      fc.property(approval, (each) => {
        const value = formatApproval(each);
        expect(parseApproval(value)).toEqual(each);
        expect(readTime(value)).toBeUndefined();
        expect(approvalIn(`Deletion of 3 machines is held. Set annotation x to ${value}`)).toEqual(each);
        expect(approvalIn(`Set annotation x to ${value}. Value "deletions=1" approves nothing of it`)).toEqual(each);
      }),
    );
  });

  it("has the work first, and the object last", () => {
    expect(formatApproval({ work: "deletions", count: 15, generation: 7, uid: "0a1b2c3d", atATime: 3 })).toBe(
      "deletions=15,generation=7,at-a-time=3,uid=0a1b2c3d",
    );
  });

  it.each([
    "",
    "true",
    "2027-01-01T00:00:00Z",
    "deletions=15",
    "deletions=15,uid=a",
    "deletions=15,generation=7",
    "deletions=0,generation=7,uid=a",
    "deletions=1e3,generation=7,uid=a",
    "deletions=15,generation=7,uid=a,",
    "deletions=15,generation=7,uid=a=b",
    "deletions=15,generation=7,uid=a,uid=a",
    "deletions=15,creations=2,generation=7,uid=a",
    "deletions=15,generation=7,uid=a,at-a-time=all",
    "deletions=15,generation=7,uid=a,until=tomorrow",
    "deletions=15,generation=7,uid=a,more=1",
    "deletions = 15,generation=7,uid=a",
    "requests=3,generation=7,before=2027-01-01T00:00:00Z,uid=a",
    "requests=3",
    "generation=7,uid=a",
  ])("is not %j", (value) => {
    expect(parseApproval(value)).toBeUndefined();
  });

  it("is not found in a message without one", () => {
    expect(approvalIn("Deletion of 15 machines is held")).toBeUndefined();
    expect(approvalIn("set it to deletions=15")).toBeUndefined();
    expect(shortUid({})).toBe("");
  });
});
