import { createVirtualClock } from "../testing/index.ts";
import { describe, expect, it } from "vitest";
import { createBatch } from "./batch.ts";

/** A batch whose requests are answered by hand. */
function aBatch(maxKeys = 100) {
  const clock = createVirtualClock();
  const asked: {
    keys: readonly string[];
    signal: AbortSignal;
    answer: (found: object) => void;
    fail: (error: Error) => void;
  }[] = [];
  const ask = createBatch<string>({
    maxKeys,
    windowMs: 10,
    ask: (keys, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ keys, signal, answer: (found) => resolve(new Map(Object.entries(found))), fail: reject });
      }),
  });
  const never = new AbortController().signal;
  return { clock, asked, ask: (key: string, signal = never) => ask(key, { clock, signal }) };
}

describe("questions that come together", () => {
  it("are one request, of which each gets its answer", async () => {
    const { clock, asked, ask } = aBatch();
    const answers = Promise.all([ask("a"), ask("b"), ask("a"), ask("none")]);
    await clock.advance(10);
    expect(asked.map(({ keys }) => keys)).toEqual([["a", "b", "none"]]);
    asked[0]?.answer({ a: "A", b: "B" });
    expect(await answers).toEqual(["A", "B", "A", undefined]);
    expect(clock.pending()).toBe(0);
  });

  it("never get an answer that was asked for before they came", async () => {
    const { clock, asked, ask } = aBatch();
    const first = ask("a");
    await clock.advance(10);
    const second = ask("a");
    await clock.advance(10);
    expect(asked).toHaveLength(2);
    asked[0]?.answer({ a: "old" });
    asked[1]?.answer({ a: "new" });
    expect([await first, await second]).toEqual(["old", "new"]);
  });

  it("are sent at once when a request is full", async () => {
    const { clock, asked, ask } = aBatch(2);
    const answers = Promise.all([ask("a"), ask("b"), ask("c")]);
    expect(asked.map(({ keys }) => keys)).toEqual([["a", "b"]]);
    await clock.advance(10);
    expect(asked.map(({ keys }) => keys)).toEqual([["a", "b"], ["c"]]);
    for (const { answer } of asked) answer({});
    expect(await answers).toEqual([undefined, undefined, undefined]);
  });

  it("wait as long as the window is when the first of them comes", async () => {
    const clock = createVirtualClock();
    let windowMs = 10;
    const asked: number[] = [];
    const look = createBatch<string>({
      maxKeys: 100,
      windowMs: () => windowMs,
      ask: (keys) => {
        asked.push(clock.monotonicMs());
        windowMs = 500;
        return Promise.resolve(new Map(keys.map((key) => [key, key])));
      },
    });
    const { signal } = new AbortController();
    const first = look("a", { clock, signal });
    await clock.advance(10);
    const second = look("a", { clock, signal });
    await clock.advance(500);
    expect([await first, await second, asked]).toEqual(["a", "a", [10, 510]]);
  });

  it("fail together", async () => {
    const { clock, asked, ask } = aBatch();
    const outcomes = Promise.allSettled([ask("a"), ask("b")]);
    await clock.advance(10);
    asked[0]?.fail(new Error("no"));
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("are each aborted by their own signal, and the request when no caller waits any more", async () => {
    const { clock, asked, ask } = aBatch();
    const [first, second] = [new AbortController(), new AbortController()];
    const outcomes = Promise.allSettled([ask("a", first.signal), ask("b", second.signal)]);
    await clock.advance(10);
    first.abort(new Error("first"));
    expect(asked[0]?.signal.aborted).toBe(false);
    second.abort(new Error("second"));
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(await outcomes).toMatchObject([{ reason: new Error("first") }, { reason: new Error("second") }]);
    await expect(ask("c", first.signal)).rejects.toThrow("first");
  });

  it("are not asked at all when all have left before", async () => {
    const { clock, asked, ask } = aBatch();
    const stop = new AbortController();
    const outcome = ask("a", stop.signal);
    stop.abort(new Error("stopped"));
    await expect(outcome).rejects.toThrow("stopped");
    await clock.advance(10);
    expect(asked).toEqual([]);
  });

  it("are answered although all who came before have left", async () => {
    const { clock, asked, ask } = aBatch();
    const stop = new AbortController();
    const left = ask("a", stop.signal);
    stop.abort(new Error("stopped"));
    await expect(left).rejects.toThrow("stopped");
    const answer = ask("b");
    await clock.advance(10);
    expect(asked.map(({ keys, signal }) => [keys, signal.aborted])).toEqual([[["b"], false]]);
    asked[0]?.answer({ b: "B" });
    expect(await answer).toBe("B");
  });
});
