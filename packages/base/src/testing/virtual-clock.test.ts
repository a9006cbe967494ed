import { describe, expect, it } from "vitest";
import { seededRandom } from "../random.ts";
import { createVirtualClock } from "./virtual-clock.ts";

describe("createVirtualClock", () => {
  it("does not run until it is advanced, then moves wall and monotonic time alike", async () => {
    const clock = createVirtualClock({ now: new Date("2026-03-01T12:00:00Z") });
    expect(clock.now().toISOString()).toBe("2026-03-01T12:00:00.000Z");
    await clock.advance(1500);
    expect(clock.now().toISOString()).toBe("2026-03-01T12:00:01.500Z");
    expect(clock.monotonicMs()).toBe(1500);
  });

  it("fires timers in the order in which they are due, each at its own time", async () => {
    const clock = createVirtualClock();
    const fired: string[] = [];
    const note = (name: string) => (): void => void fired.push(`${name}@${clock.monotonicMs()}`);
    clock.setTimer(30, note("c"));
    clock.setTimer(10, note("a"));
    clock.setTimer(10, note("b"));
    clock.setTimer(31, note("later"));
    await clock.advance(30);
    expect(fired).toEqual(["a@10", "b@10", "c@30"]);
    expect(clock.pending()).toBe(1);
    expect(clock.nextTimerMs()).toBe(1);
  });

  it("serves the timers that resumed code sets", async () => {
    const clock = createVirtualClock();
    const steps: number[] = [];
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await clock.sleep(10);
        steps.push(clock.monotonicMs());
      }
    };
    const walked = walk();
    await clock.advance(30);
    await walked;
    expect(steps).toEqual([10, 20, 30]);
    expect(clock.pending()).toBe(0);
  });

  it("takes periods beyond 2^31 ms", async () => {
    const clock = createVirtualClock();
    const slept = clock.sleep(2 ** 40);
    await clock.advance(2 ** 40 - 1);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    await expect(slept).resolves.toBeUndefined();
  });

  it("forgets canceled timers and aborted sleeps", async () => {
    const clock = createVirtualClock();
    const controller = new AbortController();
    const slept = clock.sleep(10, controller.signal);
    const timer = clock.setTimer(10, () => {
      throw new Error("fired");
    });
    timer.cancel();
    controller.abort(new Error("stop"));
    await expect(slept).rejects.toThrow("stop");
    expect(clock.pending()).toBe(0);
    await clock.advance(20);
  });

  it("fires and cancels among many timers in any order", async () => {
    const random = seededRandom(3);
    const clock = createVirtualClock();
    const fired: number[] = [];
    const timers = Array.from({ length: 500 }, () => {
      const ms = Math.floor(random.next() * 100);
      return { ms, canceled: random.next() < 0.3, timer: clock.setTimer(ms, () => fired.push(ms)) };
    });
    for (const { canceled, timer } of timers) if (canceled) timer.cancel();
    await clock.advance(100);
    const kept = timers.filter(({ canceled }) => !canceled).map(({ ms }) => ms);
    expect(fired).toEqual(kept.toSorted((a, b) => a - b));
    timers[0]?.timer.cancel();
    expect(clock.pending()).toBe(0);
  });

  it("hands on what a timer threw and goes on working", async () => {
    const clock = createVirtualClock();
    clock.setTimer(5, () => {
      throw new Error("broken timer");
    });
    await expect(clock.advance(10)).rejects.toThrow("broken timer");
    await clock.advance(10);
    expect(clock.monotonicMs()).toBe(15);
  });

  it("runs overlapping advances one after the other", async () => {
    const clock = createVirtualClock();
    await Promise.all([clock.advance(10), clock.advance(5)]);
    expect(clock.monotonicMs()).toBe(15);
  });
});
