import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "./clock.ts";

const beyondTimeoutMs = 2 ** 31 + 1000;

describe("systemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("fires a timer after its delay and once", () => {
    const run = vi.fn<() => void>();
    systemClock.setTimer(50, run);
    vi.advanceTimersByTime(49);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("waits out a timer that is longer than setTimeout can hold", () => {
    const run = vi.fn<() => void>();
    systemClock.setTimer(beyondTimeoutMs, run);
    vi.advanceTimersByTime(beyondTimeoutMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("cancels a long timer in its second stretch", () => {
    const run = vi.fn<() => void>();
    const timer = systemClock.setTimer(beyondTimeoutMs, run);
    vi.advanceTimersByTime(2 ** 31);
    timer.cancel();
    timer.cancel();
    vi.advanceTimersByTime(beyondTimeoutMs);
    expect(run).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never fires an endless timer", () => {
    const run = vi.fn<() => void>();
    const timer = systemClock.setTimer(Number.POSITIVE_INFINITY, run);
    vi.advanceTimersByTime(3 * 2 ** 31);
    expect(run).not.toHaveBeenCalled();
    timer.cancel();
  });

  it.each([0, -5, Number.NaN])("fires a timer of %s on the next turn, not within the call", (ms) => {
    const run = vi.fn<() => void>();
    systemClock.setTimer(ms, run);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("rejects a sleep with the reason of the abort and leaves no timer", async () => {
    const controller = new AbortController();
    const slept = systemClock.sleep(beyondTimeoutMs, controller.signal);
    const reason = new Error("shutting down");
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not start a sleep whose signal is aborted already", async () => {
    await expect(systemClock.sleep(1000, AbortSignal.abort("stop"))).rejects.toBe("stop");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not disturbed by an abort after the sleep has ended", async () => {
    const controller = new AbortController();
    const slept = systemClock.sleep(10, controller.signal);
    await vi.advanceTimersByTimeAsync(10);
    await slept;
    controller.abort(new Error("too late"));
    await expect(slept).resolves.toBeUndefined();
  });
});

describe("systemClock in real time", () => {
  it("measures with a clock that does not go back and stamps with wall time", async () => {
    const start = systemClock.monotonicMs();
    await systemClock.sleep(5);
    expect(systemClock.monotonicMs()).toBeGreaterThan(start);
    expect(Math.abs(systemClock.now().getTime() - Date.now())).toBeLessThan(5000);
  });
});
