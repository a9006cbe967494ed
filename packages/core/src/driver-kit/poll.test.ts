import { describe, expect, it } from "vitest";
import { systemRandom } from "@millwright/base";
import { createVirtualClock } from "../testing/index.ts";
import { poll } from "./poll.ts";

/** A poll without jitter; `foundAt` is the lookup that finds something. */
function aPoll(foundAt: number, limitMs?: number) {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const looks: number[] = [];
  const outcome = poll(
    {
      clock,
      random: { ...systemRandom, next: () => 0 },
      signal: stop.signal,
      pauseMs: 100,
      ...(limitMs === undefined ? {} : { limitMs }),
    },
    () => {
      looks.push(clock.monotonicMs());
      return Promise.resolve(looks.length >= foundAt ? "found" : undefined);
    },
  );
  return { clock, stop, looks, outcome };
}

describe("a poll", () => {
  it("looks at once, and then with growing pauses up to ten times the first", async () => {
    const { clock, looks, outcome } = aPoll(12);
    await clock.advance(20_000);
    expect(await outcome).toBe("found");
    const pauses = looks.slice(1).map((at, index) => Math.round(at - (looks[index] ?? 0)));
    expect(pauses.slice(0, 3)).toEqual([100, 150, 225]);
    expect(Math.max(...pauses)).toBe(1_000);
  });

  it("finds nothing when its time is over, without another look", async () => {
    const { clock, looks, outcome } = aPoll(99, 240);
    await clock.advance(1_000);
    expect(await outcome).toBeUndefined();
    expect(looks).toHaveLength(2);
  });

  it("ends with the reason of its signal", async () => {
    const { clock, stop, outcome } = aPoll(99);
    await expect.poll(() => clock.pending()).toBe(1);
    stop.abort(new Error("stopped"));
    await expect(outcome).rejects.toThrow("stopped");
  });
});
