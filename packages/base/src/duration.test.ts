import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatGoDuration, parseGoDuration } from "./duration.ts";

describe("parseGoDuration", () => {
  it.each([
    ["1h30m", 5_400_000],
    ["90s", 90_000],
    ["1.5h", 5_400_000],
    ["-2m", -120_000],
    ["+5s", 5000],
    ["0", 0],
    ["-0", 0],
    ["0s", 0],
    [".5s", 500],
    ["1.s", 1000],
    ["1.001s", 1001],
    ["350ms", 350],
    ["1us", 0.001],
    ["1µs", 0.001],
    ["1μs", 0.001],
    ["5ns", 0.000005],
    ["1s1h", 3_601_000],
    ["2562047h", 2_562_047 * 3_600_000],
  ])("reads %s", (text, ms) => {
    expect(parseGoDuration(text)).toBe(ms);
  });

  it.each([
    "",
    "-",
    "90",
    "1d",
    "1h 30m",
    " 1h",
    "1h ",
    ".s",
    "s",
    "1e3s",
    "1,5s",
    "--1s",
    "1H",
    "3000000h",
    "9".repeat(2000),
    "Infinity",
  ])("refuses %j", (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });

  it("gives the sum of its parts", () => {
    const amount = fc.nat({ max: 10_000 });
    fc.assert(
      fc.property(amount, amount, amount, amount, (hours, minutes, seconds, ms) => {
        const expected = hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + ms;
        expect(parseGoDuration(`${hours}h${minutes}m${seconds}s${ms}ms`)).toBe(expected);
      }),
    );
  });

  it("never throws and never gives a number that is not finite", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^-?(\d{1,12}\.?\d{0,3}(h|m|s|ms)){1,4}$/));
    fc.assert(
      fc.property(text, (given) => {
        const ms = parseGoDuration(given);
        expect(ms === undefined || Number.isFinite(ms)).toBe(true);
      }),
    );
  });
});

describe("formatGoDuration", () => {
  it.each([
    [0, "0s"],
    [1, "1ms"],
    [1.5, "1.5ms"],
    [0.0015, "1.5µs"],
    [0.000_007, "7ns"],
    [350, "350ms"],
    [1000, "1s"],
    [1500, "1.5s"],
    [1001, "1.001s"],
    [60_000, "1m0s"],
    [1_200_000, "20m0s"],
    [3_600_000, "1h0m0s"],
    [345_600_000, "96h0m0s"],
    [5_430_500, "1h30m30.5s"],
    [-90_000, "-1m30s"],
    [999.999_999_9, "1s"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
  });

  it("is read back to the same number of milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_000_000_000_000, max: 9_000_000_000_000 }), (ms) => {
        expect(parseGoDuration(formatGoDuration(ms))).toBe(ms);
      }),
    );
  });

  it.each([Number.NaN, Infinity, 1e16])("refuses %d", (ms) => {
    expect(() => formatGoDuration(ms)).toThrow(RangeError);
  });
});
