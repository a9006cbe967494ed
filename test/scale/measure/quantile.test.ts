import { describe, expect, it } from "vitest";
import { bucketsBetween, histogramQuantile, quantileOf } from "./quantile.ts";

describe("quantileOf", () => {
  it.each([
    [[], 0.5, undefined],
    [[7], 0.99, 7],
    [[3, 1, 2, 4], 0.5, 2],
    [[3, 1, 2, 4], 0.99, 4],
    [[3, 1, 2, 4], 0, 1],
  ])("of %j at %d is %s", (values, share, expected) => {
    expect(quantileOf(values, share)).toBe(expected);
  });
});

describe("histogramQuantile", () => {
  const infinite = Number.POSITIVE_INFINITY;

  it("is linear within a bucket", () => {
    const buckets = [
      [0.1, 10],
      [0.2, 20],
      [infinite, 20],
    ] as const;
    expect(histogramQuantile(buckets, 0.5)).toBeCloseTo(0.1);
    expect(histogramQuantile(buckets, 0.75)).toBeCloseTo(0.15);
  });

  it("is the highest finite bound when the observation is above it", () => {
    expect(
      histogramQuantile(
        [
          [0.1, 1],
          [infinite, 10],
        ],
        0.99,
      ),
    ).toBe(0.1);
  });

  it("is undefined without observations", () => {
    expect(histogramQuantile([[infinite, 0]], 0.5)).toBeUndefined();
    expect(histogramQuantile([], 0.5)).toBeUndefined();
  });

  it("counts only observations between two readings", () => {
    const before = [
      [0.1, 100],
      [infinite, 100],
    ] as const;
    const after = [
      [0.1, 100],
      [0.2, 101],
      [infinite, 110],
    ] as const;
    expect(bucketsBetween(before, after)).toEqual([
      [0.1, 0],
      [0.2, 101],
      [infinite, 10],
    ]);
  });
});
