import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIntOrPercent, readIntOrPercent, resolveFenceposts } from "./fenceposts.ts";

describe("resolveFenceposts", () => {
  it.each([
    [2, "0%", "1%", 0, 1],
    [1, "1%", "25%", 1, 0],
    [2, "1%", "25%", 1, 0],
    [10, 3, 2, 3, 2],
    [10, 0, 0, 0, 1],
    [5, 0, 10, 0, 5],
    [0, 1, 1, 1, 0],
    [0, "50%", "50%", 0, 0],
    [3, "100%", "100%", 3, 3],
    [7, "34%", "34%", 3, 2],
  ])("%i replicas, surge %s, unavailable %s: %i and %i", (replicas, maxSurge, maxUnavailable, surge, unavailable) => {
    expect(resolveFenceposts({ replicas, maxSurge, maxUnavailable })).toEqual({
      maxSurge: surge,
      maxUnavailable: unavailable,
    });
  });

  it("takes a missing fencepost for 0, and always lets a rollout progress", () => {
    expect(resolveFenceposts({ replicas: 3 })).toEqual({ maxSurge: 0, maxUnavailable: 1 });
    expect(resolveFenceposts({ replicas: 3, maxSurge: 1 })).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  it("takes what validation refuses for 0", () => {
    expect(resolveFenceposts({ replicas: 10, maxSurge: "5", maxUnavailable: -3 })).toEqual({
      maxSurge: 0,
      maxUnavailable: 1,
    });
  });

  it("always allows a step, never more unavailable than replicas, and stays within 32 bits", () => {
    const value = fc.oneof(
      fc.nat(),
      fc.nat().map((percent) => `${percent}%`),
      fc.string(),
      fc.integer(),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), value, value, (replicas, maxSurge, maxUnavailable) => {
        const resolved = resolveFenceposts({ replicas, maxSurge, maxUnavailable });
        expect(resolved.maxSurge + resolved.maxUnavailable).toBeGreaterThan(0);
        expect(resolved.maxUnavailable).toBeLessThanOrEqual(replicas);
        expect(resolved.maxSurge).toBeLessThan(2 ** 31);
        expect(Number.isInteger(resolved.maxSurge) && Number.isInteger(resolved.maxUnavailable)).toBe(true);
      }),
    );
  });
});

describe("parseIntOrPercent", () => {
  it.each(["5", "", "%", "5 %", "1.5%", "1e3%", "+5%", "99999999999%", "0x1%"])("refuses the text %j", (text) => {
    expect(parseIntOrPercent(text)).toBeUndefined();
  });

  it.each([1.5, Number.NaN, Infinity, 2 ** 31])("refuses the number %d", (value) => {
    expect(parseIntOrPercent(value)).toBeUndefined();
  });

  it("reads negative ones, so that a message can show them", () => {
    expect(parseIntOrPercent(-1)).toEqual({ unit: "count", amount: -1 });
    expect(parseIntOrPercent("-5%")).toEqual({ unit: "percent", amount: -5 });
  });
});

describe("readIntOrPercent", () => {
  it.each([
    ["1", 1],
    ["0", 0],
    ["25%", "25%"],
    ["0%", "0%"],
    ["", undefined],
    ["-1", undefined],
    ["-5%", undefined],
    ["1.5", undefined],
    ["many", undefined],
    ["99999999999", undefined],
  ])("reads %j as %j", (text, expected) => {
    expect(readIntOrPercent(text)).toBe(expected);
  });
});
