import { describe, expect, it } from "vitest";
import { createListSchedule } from "./list-schedule.ts";

const MINUTE = 60_000;

function aSchedule(chance = 0.5) {
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs };
  const schedule = createListSchedule({ periodMs: 15 * MINUTE, minIntervalMs: MINUTE }, clock, { next: () => chance });
  return { schedule, pass: (ms: number) => void (nowMs += ms), wait: () => schedule.waitMs("uid") };
}

describe("the schedule of lists", () => {
  it("lists a new class within the minimum interval, and then in every period", () => {
    const { schedule, pass, wait } = aSchedule();
    expect(wait()).toBe(MINUTE / 2);
    pass(MINUTE / 2);
    expect(wait()).toBe(0);
    schedule.started("uid");
    pass(1_000);
    schedule.succeeded("uid");
    expect(wait()).toBe(15 * MINUTE);
  });

  it("lists on request, however many there are, but not within the minimum interval", () => {
    const { schedule, pass, wait } = aSchedule(0);
    schedule.request("uid", 0);
    expect(wait()).toBe(0);
    schedule.started("uid");
    schedule.succeeded("uid");
    pass(10_000);
    schedule.request("uid", 0);
    schedule.request("uid", 5 * MINUTE);
    expect(wait()).toBe(50_000);
    pass(50_000);
    expect(wait()).toBe(0);
  });

  it("keeps a request that came while a list ran", () => {
    const { schedule, pass, wait } = aSchedule();
    schedule.started("uid");
    pass(10_000);
    schedule.request("uid", 0);
    schedule.succeeded("uid");
    expect(wait()).toBe(50_000);
  });

  it("backs off after failures, up to the period, and not before the cloud allows", () => {
    const { schedule, wait } = aSchedule();
    const waits = Array.from({ length: 6 }, () => {
      schedule.started("uid");
      schedule.failed("uid", 0);
      return wait() / MINUTE;
    });
    expect(waits).toEqual([1, 2, 4, 8, 15, 15]);
    schedule.started("uid");
    schedule.failed("uid", 60 * MINUTE);
    expect(wait()).toBe(60 * MINUTE);
    schedule.started("uid");
    schedule.succeeded("uid");
    schedule.started("uid");
    schedule.failed("uid", 0);
    expect(wait()).toBe(MINUTE);
  });
});
