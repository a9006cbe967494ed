import { describe, expect, it } from "vitest";
import { createInFlightLimit } from "./in-flight-limit.ts";

const never = new AbortController().signal;

describe("a limit of calls at once", () => {
  it("lets so many run, and the others in order", async () => {
    const limit = createInFlightLimit(2);
    const events: string[] = [];
    const ends: (() => void)[] = [];
    const call = (name: string) =>
      limit(never, () => {
        events.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = Promise.all(["a", "b", "c", "d"].map(call));
    expect(events).toEqual(["a", "b"]);
    for (let ended = 0; ended < 4; ended++) {
      ends[ended]?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
    expect(events).toEqual(["a", "b", "c", "d"]);
  });

  it("frees the place of a call that fails", async () => {
    const limit = createInFlightLimit(1);
    await expect(limit(never, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(limit(never, () => Promise.resolve(7))).resolves.toBe(7);
  });

  it("lets who is aborted leave the queue, without taking a place", async () => {
    const limit = createInFlightLimit(1);
    const stop = new AbortController();
    let end = (): void => undefined;
    const first = limit(never, () => new Promise<void>((resolve) => (end = resolve)));
    const second = limit(stop.signal, () => Promise.resolve("second"));
    const third = limit(never, () => Promise.resolve("third"));
    stop.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    end();
    await first;
    await expect(third).resolves.toBe("third");
    await expect(limit(stop.signal, () => Promise.resolve(1))).rejects.toThrow("stopped");
  });
});
