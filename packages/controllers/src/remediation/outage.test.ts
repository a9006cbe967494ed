import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { outageUntil } from "./outage.ts";

const rule = { outageThreshold: 0.3, outageMinMachines: 3, outageWindowMs: 1_000 };

describe("outageUntil", () => {
  test.each([
    ["30 % of ten", 10, [0, 0, 0], 1_000],
    ["fewer than 30 %", 11, [0, 0, 0], undefined],
    ["two of two, which are fewer than three", 2, [0, 0], undefined],
    ["all of three", 3, [0, 5, 9], 1_000],
    ["none", 10, [], undefined],
  ])("finds in %s, at once, until %j", (_, joined, unknownSince, until) => {
    expect(outageUntil({ joined, unknownSince }, rule, 100)).toBe(until);
  });

  it("ends when so many have been Unknown for the window that the rest is too few", () => {
    const count = { joined: 10, unknownSince: [0, 10, 20, 30] };
    expect(outageUntil(count, rule, 100)).toBe(1_010);
    expect(outageUntil(count, rule, 1_005)).toBe(1_010);
    expect(outageUntil(count, rule, 1_010)).toBeUndefined();
  });

  it("needs one machine at least, whatever the settings", () => {
    expect(
      outageUntil({ joined: 0, unknownSince: [] }, { ...rule, outageMinMachines: 0, outageThreshold: 0 }, 0),
    ).toBeUndefined();
  });

  it("is over at that time, and not before", () => {
    const times = fc.array(fc.nat(2_000), { maxLength: 20 }).map((list) => list.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(times, fc.nat(40), fc.nat(2_000), (unknownSince, more, now) => {
        const count = { joined: unknownSince.length + more, unknownSince };
        const until = outageUntil(count, rule, now);
        if (until === undefined) return;
        expect(until).toBeGreaterThan(now);
        expect(outageUntil(count, rule, until - 1)).toBe(until);
        expect(outageUntil(count, rule, until)).toBeUndefined();
      }),
    );
  });
});
