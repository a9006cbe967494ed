import { describe, expect, it } from "vitest";
import { type Random, seededRandom } from "@millwright/base";
import { retryPauseMs } from "./retry-pause.ts";

const always = (value: number): Random => ({ ...seededRandom(1), next: () => value });

describe("the pause before another attempt", () => {
  it("is twice as long each time, up to its limit", () => {
    expect([1, 2, 3, 4, 5, 50].map((retries) => retryPauseMs(retries, always(1)))).toStrictEqual([
      200, 400, 800, 1_600, 2_000, 2_000,
    ]);
  });

  it("may be anything up to that", () => {
    expect(retryPauseMs(1, always(0))).toBe(0);
    expect(retryPauseMs(1, always(0.5))).toBe(100);
  });
});
