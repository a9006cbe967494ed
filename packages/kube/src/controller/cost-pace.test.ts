import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { createCostPace } from "./cost-pace.ts";

/** A pace whose keys are their costs, at most 1,000 per second. */
function setUp() {
  const clock = createVirtualClock();
  const pace = createCostPace(clock, {
    costOf: (key) => Number.parseInt(key, 10),
    costPerSecond: 1_000,
    freeCost: 10,
    maxDelayMs: 2_000,
  });
  return { clock, pace };
}

test("admits a key at once after a pause, and again when its cost is worked off", async () => {
  const { clock, pace } = setUp();
  expect(pace.admit("500")).toBe(0);
  await clock.advance(100);
  expect(pace.admit("500")).toBe(400);
  await clock.advance(399);
  expect(pace.admit("500")).toBe(1);
  await clock.advance(1);
  expect(pace.admit("500")).toBe(0);
  await clock.advance(10_000);
  expect(pace.admit("500")).toBe(0);
});

test("admits expensive keys in the order in which they asked first", async () => {
  const { clock, pace } = setUp();
  expect(["300 a", "300 b", "300 c"].map(pace.admit)).toEqual([0, 300, 600]);
  expect(["300 c", "300 b"].map(pace.admit)).toEqual([600, 300]);
  await clock.advance(300);
  expect(["300 c", "300 b"].map(pace.admit)).toEqual([300, 0]);
});

test("never delays a cheap key, and does not count it", () => {
  const { pace } = setUp();
  expect([pace.admit("500"), pace.admit("10"), pace.admit("10"), pace.admit("20")]).toEqual([0, 0, 0, 500]);
});

test("delays a key by the maximum at most, and does not add up what is more", async () => {
  const { clock, pace } = setUp();
  expect([pace.admit("60000 a"), pace.admit("60000 b"), pace.admit("60000 c")]).toEqual([0, 2_000, 2_000]);
  await clock.advance(2_000);
  expect([pace.admit("60000 b"), pace.admit("60000 c"), pace.admit("20")]).toEqual([0, 0, 2_000]);
});
