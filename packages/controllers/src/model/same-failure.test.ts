import { describe, expect, it, test } from "vitest";
import { findSameFailure, isSameFailure } from "./same-failure.ts";

const failure = (id: string) => `denied (quota.cpu*): [request ${id}] of a+b`;

describe("a failure with parts that change", () => {
  test.each([
    ["UUIDs", "11111111-aaaa-2222-BBBB-333333333333", "44444444-cccc-5555-dddd-666666666666"],
    ["hexadecimal ids", "0123456789abcdef", "FEDCBA98765432100"],
    ["times", "2026-01-01T00:00:00.123Z", "2026-12-31 23:59:59"],
  ])("is found with other %s, in the words that were stored", (_, stored, now) => {
    const text = `before. ${failure(stored)}. after`;
    expect(findSameFailure(text, failure(now))).toBe(failure(stored));
    expect(isSameFailure(failure(stored), failure(now))).toBe(true);
    expect(isSameFailure(text, failure(now))).toBe(false);
  });

  it("is not found when anything else differs", () => {
    const [id, other] = ["0123456789abcdef", "fedcba9876543210"];
    expect(findSameFailure(failure(id), failure(other).replace("cpu", "gpu"))).toBeUndefined();
    // No character of it is a pattern.
    expect(findSameFailure("denied (quota_cpuu): [request 0123456789abcdef] of aab", failure(other))).toBeUndefined();
    expect(findSameFailure("request 1", "request 2")).toBeUndefined();
    expect(findSameFailure("request 0123456789abcde", "request 0123456789abcdef")).toBeUndefined();
  });
});
