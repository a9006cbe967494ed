import { createVirtualClock, failureOf } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createOperationWatch } from "./operation-watch.ts";
import { readOperation } from "./operation.ts";
import type { GceApi } from "./requests.ts";

const place = { project: "my-project", zone: "europe-west1-b" };

/** Compute Engine in memory: operations end by the clock, and requests take none of its time. */
function aWatch() {
  const clock = createVirtualClock();
  const doneAtMs = new Map<string, number>();
  /** Those that lists do not show. */
  const hidden = new Set<string>();
  const requests: string[] = [];
  const atMs: number[] = [];
  let failure: Error | undefined;
  const shown = (name: string) =>
    readOperation({ name, status: clock.monotonicMs() >= (doneAtMs.get(name) ?? 0) ? "DONE" : "RUNNING" });
  const answer = <T>(request: string, signal: AbortSignal, value: T): Promise<T> => {
    signal.throwIfAborted();
    requests.push(request);
    atMs.push(clock.monotonicMs());
    return failure === undefined ? Promise.resolve(value) : Promise.reject(failure);
  };
  const api: Pick<GceApi, "getOperation" | "listOperations"> = {
    getOperation: (_, name, signal) => answer("get", signal, doneAtMs.has(name) ? shown(name) : undefined),
    listOperations: (_, filter, pageToken, signal) => {
      const names = [...filter.matchAll(/name = "([^"]+)"/g)].map(([, name = ""]) => name);
      const all = [...doneAtMs.keys()].filter((name) => !hidden.has(name)).map(shown);
      const items = all.filter(({ name, isDone }) => (names.length > 0 ? names.includes(name) : !isDone));
      const start = Number(pageToken ?? 0);
      return answer(names.length > 0 ? "list by name" : "list of running", signal, {
        items: items.slice(start, start + 500),
        nextPageToken: start + 500 < items.length ? String(start + 500) : undefined,
      });
    },
  };
  const watch = createOperationWatch(api, place, { random: { next: () => 0 }, pollMs: 500 });
  return {
    clock,
    doneAtMs,
    hidden,
    requests,
    atMs,
    fail: (error: Error | undefined) => void (failure = error),
    /** Begins an operation, and waits for it. */
    wait: (name: string, forMs: number, signal = new AbortController().signal) => {
      doneAtMs.set(name, clock.monotonicMs() + forMs);
      return watch(name, { clock, signal });
    },
    watch,
  };
}

const settled = async (promises: readonly Promise<unknown>[]): Promise<number> => {
  let count = 0;
  for (const promise of promises) void promise.then(() => count++);
  await new Promise((resolve) => setImmediate(resolve));
  return count;
};

describe("waiting for operations", () => {
  it("asks for a single one by its name, with growing pauses, and answers when it is done", async () => {
    const { clock, requests, atMs, wait } = aWatch();
    const done = wait("a", 20_000);
    await clock.advance(60_000);
    expect(await done).toMatchObject({ name: "a", isDone: true });
    expect(new Set(requests)).toEqual(new Set(["get"]));
    expect(atMs).toEqual([500, 1_250, 2_375, 4_062.5, 6_593.75, 10_390.625, 15_390.625, 20_390.625]);
    expect(clock.pending()).toBe(0);
  });

  it("sends one list for up to 50, and two for the whole zone beyond", async () => {
    const { clock, requests, wait } = aWatch();
    const few = Array.from({ length: 50 }, (_, index) => wait(`few-${index}`, 400));
    await clock.advance(500);
    expect(await settled(few)).toBe(50);
    expect(requests).toEqual(["list by name"]);
    requests.length = 0;
    const many = Array.from({ length: 300 }, (_, index) => wait(`many-${index}`, index < 40 ? 400 : 1_000));
    await clock.advance(500);
    expect(await settled(many)).toBe(40);
    expect(requests).toEqual(["list of running", "list by name"]);
    await clock.advance(5_000);
    expect(await settled(many)).toBe(300);
    expect(requests.filter((request) => request === "list by name")).toHaveLength(1 + 6);
  });

  it("reads all pages of those that go on", async () => {
    const { clock, requests, wait } = aWatch();
    const all = Array.from({ length: 1_200 }, (_, index) => wait(`m-${index}`, 2_000));
    await clock.advance(500);
    expect(requests).toEqual(["list of running", "list of running", "list of running"]);
    await clock.advance(10_000);
    expect(await settled(all)).toBe(1_200);
  });

  it("looks again soon for one that comes while the others are waited for with long pauses", async () => {
    const { clock, wait } = aWatch();
    const slow = wait("slow", 600_000);
    await clock.advance(100_000);
    const fast = wait("fast", 300);
    await clock.advance(500);
    expect(await settled([fast])).toBe(1);
    expect(await settled([slow])).toBe(0);
  });

  it("is not put off by those that keep coming", async () => {
    const { clock, wait } = aWatch();
    const first = wait("first", 100);
    for (let index = 0; index < 10; index++) {
      void wait(`later-${index}`, 600_000);
      await clock.advance(100);
    }
    expect(await settled([first])).toBe(1);
  });

  it("answers all who wait for the same one", async () => {
    const { clock, requests, wait, watch } = aWatch();
    const both = [wait("a", 400), watch("a", { clock, signal: new AbortController().signal })];
    await clock.advance(500);
    expect(await settled(both)).toBe(2);
    expect(requests).toEqual(["get"]);
  });

  it("looks up by its name one that no list shows, and takes it for running while it is", async () => {
    const { clock, requests, hidden, wait } = aWatch();
    hidden.add("m-0");
    const all = Array.from({ length: 10 }, (_, index) => wait(`m-${index}`, index === 0 ? 900 : 400));
    await clock.advance(500);
    expect(await settled(all)).toBe(9);
    expect(requests).toEqual(["list by name", "get"]);
    await clock.advance(500);
    expect(await settled(all)).toBe(10);
  });

  it("reports one that Compute Engine does not know any more as an unknown outcome", async () => {
    const { clock, doneAtMs, wait } = aWatch();
    const [lost, other] = [wait("a", 600_000), wait("b", 400)];
    const failure = failureOf(lost);
    doneAtMs.delete("a");
    await clock.advance(500);
    expect(await failure).toMatchObject({
      code: "Unknown",
      message: expect.stringContaining("no longer has operation a in europe-west1-b (my-project)"),
    });
    expect(await settled([other])).toBe(1);
  });

  it("fails for all when a request fails, and starts again with the next who waits", async () => {
    const { clock, fail, wait } = aWatch();
    const broken = new Error("broken");
    fail(broken);
    const failures = [failureOf(wait("a", 400)), failureOf(wait("b", 400))];
    await clock.advance(500);
    expect(await Promise.all(failures)).toEqual([broken, broken]);
    expect(clock.pending()).toBe(0);
    fail(undefined);
    const next = wait("c", 100);
    await clock.advance(500);
    expect(await settled([next])).toBe(1);
  });

  it("lets one leave at once, and stops when no one is left", async () => {
    const { clock, requests, wait } = aWatch();
    const stop = new AbortController();
    const left = failureOf(wait("a", 600_000, stop.signal));
    const stays = wait("b", 1_000);
    stop.abort(new Error("too late"));
    expect(await left).toEqual(new Error("too late"));
    await clock.advance(2_000);
    expect(await settled([stays])).toBe(1);
    expect(clock.pending()).toBe(0);
    expect(requests).toEqual(["get", "get"]);
    const aborted = AbortSignal.abort(new Error("before"));
    expect(await failureOf(wait("c", 1, aborted))).toEqual(new Error("before"));
    expect(clock.pending()).toBe(0);
  });

  it("serves who comes while the look of one that has left is being given up", async () => {
    const clock = createVirtualClock();
    const looks: AbortSignal[] = [];
    const api: Pick<GceApi, "getOperation" | "listOperations"> = {
      getOperation: (_, name, signal) => {
        looks.push(signal);
        if (looks.length > 1) return Promise.resolve(readOperation({ name, status: "DONE" }));
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
      listOperations: () => Promise.reject(new Error("not asked for")),
    };
    const watch = createOperationWatch(api, place, { random: { next: () => 0 }, pollMs: 500 });
    const stop = new AbortController();
    const left = failureOf(watch("a", { clock, signal: stop.signal }));
    await clock.advance(500);
    stop.abort(new Error("too late"));
    const next = watch("b", { clock, signal: new AbortController().signal });
    expect(looks[0]?.aborted).toBe(true);
    expect(await left).toEqual(new Error("too late"));
    await clock.advance(1_000);
    expect(await next).toMatchObject({ name: "b" });
  });
});
