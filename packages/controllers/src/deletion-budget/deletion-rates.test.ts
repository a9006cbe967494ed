import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createDeletionRate, type DeletionRate } from "./deletion-rates.ts";

const hour = 3_600_000;
const grow = (rate: DeletionRate, count: number): void => {
  for (let made = 0; made < count; made++) rate.resize(1);
};

it("allows 50 deletions to a small fleet, and refills them within an hour", async () => {
  const clock = createVirtualClock();
  const rate = createDeletionRate(clock);
  grow(rate, 3);
  for (let used = 0; used < 50; used++) rate.use();
  expect(rate.room()).toEqual({ limit: 50, count: 0, moreInMs: hour / 50 });
  await clock.advance(hour / 50);
  expect(rate.room()).toMatchObject({ count: 1, moreInMs: 0 });
  await clock.advance(hour);
  expect(rate.room().count).toBe(50);
});

it("takes back deletions that did not begin, and never allows more than its capacity", () => {
  const rate = createDeletionRate(createVirtualClock());
  for (let used = 0; used < 50; used++) rate.use();
  rate.giveBack();
  expect(rate.room().count).toBe(1);
  for (let given = 0; given < 60; given++) rate.giveBack();
  expect(rate.room().count).toBe(50);
});

it("never holds a fleet that is deleted once, however large", () => {
  const rate = createDeletionRate(createVirtualClock());
  grow(rate, 1_000);
  for (let left = 1_000; left > 0; left--) {
    expect(rate.room().count).toBeGreaterThan(0);
    rate.use();
    rate.resize(-1);
  }
});

it("holds a loop of creation and deletion after two fleets", () => {
  const rate = createDeletionRate(createVirtualClock());
  grow(rate, 100);
  let deleted = 0;
  while (rate.room().count > 0 && deleted < 1_000) {
    rate.use();
    rate.resize(-1);
    rate.resize(1);
    deleted++;
  }
  expect(deleted).toBe(200);
});

it("forgets a larger fleet after an hour", async () => {
  const clock = createVirtualClock();
  const rate = createDeletionRate(clock);
  grow(rate, 1_000);
  for (let left = 1_000; left > 900; left--) rate.resize(-1);
  await clock.advance(hour / 2);
  for (let left = 900; left > 100; left--) rate.resize(-1);
  expect(rate.room().limit).toBe(2_000);
  await clock.advance(hour / 2 + 1);
  expect(rate.room().limit).toBe(1_800);
  await clock.advance(hour / 2);
  expect(rate.room().limit).toBe(200);
  grow(rate, 300);
  rate.resize(-1);
  expect(rate.room().limit).toBe(800);
});
