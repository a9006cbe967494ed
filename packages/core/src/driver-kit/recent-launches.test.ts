import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../testing/index.ts";
import { createRecentLaunches } from "./recent-launches.ts";

const windowMs = 120_000;
const a = { uid: "a" };
const b = { uid: "b" };

/** A memory that is old enough to know what was asked for. */
async function aMemory() {
  const clock = createVirtualClock();
  const launches = createRecentLaunches(clock, windowMs);
  await clock.advance(windowMs);
  const hidden = () => [a, b].filter((machine) => launches.mayBeHidden(machine));
  return { clock, launches, hidden };
}

describe("the memory of launches", () => {
  it("takes every machine for one with a hidden VM until it knows what the process before may have asked for", async () => {
    const clock = createVirtualClock();
    const launches = createRecentLaunches(clock, windowMs);
    expect(launches.mayBeHidden(a)).toBe(true);
    await clock.advance(windowMs - 1);
    expect(launches.mayBeHidden(a)).toBe(true);
    await clock.advance(1);
    expect(launches.mayBeHidden(a)).toBe(false);
  });

  it("knows whose VM was asked for, and forgets it when the cloud would have shown it", async () => {
    const { clock, launches, hidden } = await aMemory();
    launches.asked(a);
    expect(hidden()).toEqual([a]);
    await clock.advance(windowMs);
    expect(hidden()).toEqual([]);
  });

  it("counts from the last request for a VM, regardless of requests for others", async () => {
    const { clock, launches, hidden } = await aMemory();
    launches.asked(a);
    await clock.advance(windowMs / 2);
    launches.asked(b);
    launches.asked(a);
    await clock.advance(windowMs / 2);
    expect(hidden()).toEqual([a, b]);
    launches.asked({ uid: "c" });
    await clock.advance(windowMs / 2);
    expect(hidden()).toEqual([]);
  });
});
