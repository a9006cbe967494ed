import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameQuantity, quantityInNanos } from "./quantity.ts";

const nano = 1_000_000_000n;

describe("quantityInNanos", () => {
  it.each<[number | string, bigint]>([
    ["0", 0n],
    [4, 4n * nano],
    ["+4", 4n * nano],
    ["-4", -4n * nano],
    ["500m", nano / 2n],
    ["0.5", nano / 2n],
    [".5", nano / 2n],
    ["5.", 5n * nano],
    ["1Ki", 1024n * nano],
    ["1.5Gi", 1536n * 1024n * 1024n * nano],
    ["2Ei", 2n * 1024n ** 6n * nano],
    ["1k", 1000n * nano],
    ["1E", 10n ** 18n * nano],
    ["1e3", 1000n * nano],
    ["1E3", 1000n * nano],
    ["12e-1", 1_200_000_000n],
    ["7n", 7n],
    ["7u", 7_000n],
  ])("reads %s", (text, expected) => {
    expect(quantityInNanos(text)).toBe(expected);
  });

  it("rounds what is finer than a billionth away from zero, as Kubernetes does", () => {
    expect(quantityInNanos("0.1n")).toBe(1n);
    expect(quantityInNanos("-0.1n")).toBe(-1n);
  });

  it.each(["", ".", "x", "1KI", "1 Gi", "1e", "1e1.5", "1e999", "--1", "1Gi2", "9".repeat(65)])(
    "refuses %s",
    (text) => {
      expect(quantityInNanos(text)).toBeUndefined();
    },
  );

  it("is exact where floating point is not", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (millis) => {
        const text = `${millis / 1000n}.${String(millis % 1000n).padStart(3, "0")}`;
        expect(quantityInNanos(text)).toBe(quantityInNanos(`${millis}m`));
      }),
    );
  });
});

describe("isSameQuantity", () => {
  it("compares amounts, not texts", () => {
    expect(isSameQuantity("1Gi", "1073741824")).toBe(true);
    expect(isSameQuantity("1000m", 1)).toBe(true);
    expect(isSameQuantity("1G", "1Gi")).toBe(false);
    expect(isSameQuantity("1", "x")).toBe(false);
  });

  it("falls back on the texts where there is no amount", () => {
    expect(isSameQuantity("x", "x")).toBe(true);
    expect(isSameQuantity("x", "y")).toBe(false);
  });
});
