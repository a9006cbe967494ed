import { describe, expect, it, test } from "vitest";
import { isSameFailure } from "./same-failure.ts";

const failure = (id: string) => `denied (quota.cpu*): [request ${id}] of a+b`;

describe("a failure with parts that change", () => {
  test.each([
    ["UUIDs", "11111111-aaaa-2222-BBBB-333333333333", "44444444-cccc-5555-dddd-666666666666"],
    ["hexadecimal ids", "0123456789abcdef", "FEDCBA98765432100"],
    ["times", "2026-01-01T00:00:00.123Z", "2026-12-31 23:59:59"],
  ])("is found with other %s, in the words that were stored", (_, stored, now) => {
    expect(isSameFailure(failure(stored), failure(now))).toBe(true);
    expect(isSameFailure(failure(stored), `${failure(now)}.`)).toBe(true);
    expect(isSameFailure(`before. ${failure(stored)}. after`, failure(now))).toBe(false);
  });

  it("is not found when anything else differs", () => {
    const [id, other] = ["0123456789abcdef", "fedcba9876543210"];
    expect(isSameFailure(failure(id), failure(other).replace("cpu", "gpu"))).toBe(false);
    expect(isSameFailure("request 1", "request 2")).toBe(false);
    expect(isSameFailure("request 0123456789abcde", "request 0123456789abcdef")).toBe(false);
  });
});
