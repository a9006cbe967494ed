import { seededRandom } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import type { ListOptions, WatchOptions } from "./call-options.ts";
import { createInformer } from "./informer.ts";
import type { KubeObject, ObjectList } from "./kube-object.ts";
import { createReflector } from "./reflector.ts";
import type { ReflectorOptions } from "./reflector.ts";
import { nodeResource } from "./resources.ts";
import { createStore } from "./store.ts";
import type { StoreSubscriber } from "./store.ts";
import { createFakeApi } from "./testing/fake-api.ts";
import type { Transport } from "./transport.ts";
import { defaultInactivityMs, openWatch } from "./watch.ts";
import type { WatchEvent } from "./watch.ts";

const gone = () => new ApiError({ status: 410, reason: "Expired", message: "too old" });
const broken = () => new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
const node = (name: string, version: number): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: String(version) },
});
const page = (items: KubeObject[], version: number, next?: string): ObjectList => ({
  items,
  metadata: { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) },
});

/** An API whose answers are written down in advance; a watch that has nothing left waits for its end. */
function scripted(
  lists: (ObjectList | Error | ((options: ListOptions) => ObjectList))[],
  watches: (readonly (WatchEvent | Error | "end")[])[],
) {
  const listed: ListOptions[] = [];
  const watched: WatchOptions[] = [];
  let underway = 0;
  const api: Pick<ApiClient, "list" | "watch"> = {
    async list<T>(_: unknown, options: ListOptions = {}) {
      expect(++underway).toBe(1);
      listed.push(options);
      await Promise.resolve();
      underway--;
      const next = lists.length > 1 ? lists.shift() : lists[0];
      if (next instanceof Error) throw next;
      const answer = typeof next === "function" ? next(options) : next;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return answer as ObjectList<never> & T;
    },
    async *watch(_, options, signal) {
      watched.push(options);
      signal.throwIfAborted();
      for (const event of watches.shift() ?? []) {
        await Promise.resolve();
        if (event === "end") return;
        if (event instanceof Error) throw event;
        yield event;
      }
      signal.throwIfAborted();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  return { api, listed, watched };
}

function start(script: ReturnType<typeof scripted>, more: Partial<ReflectorOptions<KubeObject>> = {}) {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const store = createStore();
  const reflector = createReflector({
    api: script.api,
    type: nodeResource,
    store,
    clock,
    random: seededRandom(1),
    streamingList: false,
    ...more,
  });
  const running = reflector.run(stop.signal);
  const end = async () => {
    stop.abort(new Error("done"));
    await running;
  };
  return { clock, store, reflector, end, ...script };
}

const names = (objects: readonly KubeObject[]) => objects.map((object) => object.metadata.name);

const colourOf = (object: KubeObject) => object.metadata.labels?.["colour"];

test("lists in pages of one snapshot and watches from its version", async () => {
  const run = start(scripted([page([node("a", 1)], 5, "next"), page([node("b", 2)], 5)], []));
  expect(run.reflector.hasSynced()).toBe(false);
  await run.reflector.synced();
  await run.clock.advance(0);
  expect(names(run.store.list())).toEqual(["a", "b"]);
  expect(run.listed.map((options) => [options.limit, options.continue])).toEqual([
    [100, undefined],
    [100, "next"],
  ]);
  expect(run.watched.map((options) => options.resourceVersion)).toEqual(["5"]);
  await run.end();
});

test("starts the list again in one piece when its snapshot expires between two pages", async () => {
  const run = start(scripted([page([node("a", 1)], 5, "next"), gone(), page([node("b", 6)], 9)], []));
  await run.reflector.synced();
  expect(names(run.store.list())).toEqual(["b"]);
  expect(run.listed.at(-1)).toMatchObject({ labelSelector: undefined });
  expect(run.listed.at(-1)?.continue).toBeUndefined();
  await run.end();
});

test("continues from the last event or bookmark after a watch that ended or broke, without a list", async () => {
  const run = start(
    scripted(
      [page([], 5)],
      [
        [{ type: "ADDED", object: node("a", 7) }, "end"],
        [{ type: "BOOKMARK", object: { metadata: { resourceVersion: "20" } } }, broken()],
        [{ type: "DELETED", object: node("a", 21) }],
      ],
    ),
  );
  await run.clock.advance(2_000);
  expect(run.watched.map((options) => options.resourceVersion)).toEqual(["5", "7", "20"]);
  expect(run.listed).toHaveLength(1);
  expect(run.store.size).toBe(0);
  expect(run.reflector.resourceVersion()).toBe("21");
  await run.end();
});

test("lists afresh after 410 in the middle of a watch, and tells of what is missing with its last state", async () => {
  const run = start(scripted([page([node("a", 1), node("b", 2)], 5), page([node("b", 2)], 9)], [[gone()]]));
  const seen = vi.fn<StoreSubscriber<KubeObject>>();
  await run.reflector.synced();
  run.store.subscribe(seen, { replay: false });
  await run.clock.advance(2_000);
  expect(names(run.store.list())).toEqual(["b"]);
  expect(seen.mock.calls.map(([old, current]) => [old?.metadata.name, current])).toEqual([["a", undefined]]);
  expect(run.watched.map((options) => options.resourceVersion)).toEqual(["5", "9"]);
  await run.end();
});

test("lists afresh when the kind was not served meanwhile, for it may have lost everything", async () => {
  const unserved = new ApiError({ status: 404, reason: "NotFound", message: "the kind is not served" });
  const run = start(scripted([page([node("a", 1)], 5), unserved, page([node("b", 7)], 9)], [[unserved]]));
  await run.clock.advance(20_000);
  expect(names(run.store.list())).toEqual(["b"]);
  expect(run.watched.map((options) => options.resourceVersion)).toEqual(["5", "9"]);
  await run.end();
});

test("lists afresh when the server has not reached the version, as after a restart without its data", async () => {
  const ahead = new ApiError({
    status: 504,
    reason: "Timeout",
    message: "Timeout: Too large resource version: 5, current: 2",
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
  });
  const run = start(scripted([page([node("a", 4), node("b", 5)], 5), page([node("b", 1)], 2)], [[ahead]]));
  await run.clock.advance(5_000);
  expect(names(run.store.list())).toEqual(["b"]);
  expect(run.watched.map((options) => options.resourceVersion)).toEqual(["5", "2"]);
  await run.end();
});

test("never gives up, and asks ever more slowly", async () => {
  const run = start(scripted([broken()], []));
  await run.clock.advance(60_000);
  const first = run.listed.length;
  expect(first).toBeGreaterThan(4);
  expect(first).toBeLessThan(15);
  await run.clock.advance(3_600_000);
  // Every 7.5 to 15 s.
  expect(run.listed.length - first).toBeGreaterThan(235);
  expect(run.listed.length - first).toBeLessThan(485);
  await run.end();
});

test("does not list in a tight loop when every list and every watch says 410", async () => {
  const lists = start(scripted([gone()], []));
  await lists.clock.advance(60_000);
  expect(lists.listed.length).toBeLessThan(15);
  await lists.end();
  const watches = start(
    scripted(
      [page([], 5)],
      Array.from({ length: 1_000 }, () => [gone()]),
    ),
  );
  await watches.clock.advance(60_000);
  expect(watches.listed.length).toBeLessThan(15);
  await watches.end();
});

test("does not reconnect in a tight loop when the server ends every watch at once", async () => {
  const run = start(
    scripted(
      [page([], 5)],
      Array.from({ length: 1_000 }, () => ["end" as const]),
    ),
  );
  await run.clock.advance(60_000);
  expect(run.watched.length).toBeLessThan(15);
  await run.end();
});

test("stops in the middle of a wait, and refuses to run twice at once", async () => {
  const run = start(scripted([broken()], []));
  await run.clock.advance(100);
  await expect(run.reflector.run(new AbortController().signal)).rejects.toThrow("runs already");
  await run.end();
  expect(run.clock.pending()).toBe(0);
});

test("tells whoever waits for the first list when their signal aborts", async () => {
  const run = start(scripted([broken()], []));
  const stop = new AbortController();
  const waiting = run.reflector.synced(stop.signal);
  stop.abort(new Error("stopping"));
  await expect(waiting).rejects.toThrow("stopping");
  await run.end();
});

test("keeps an informer equal to the server through compaction and restarts of watches", async () => {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const stop = new AbortController();
  api.seed(nodeResource, { metadata: { name: "a" } });
  api.seed(nodeResource, { metadata: { name: "b" } });
  const nodes = createInformer({
    api,
    type: nodeResource,
    clock,
    random: seededRandom(1),
    indexes: { byColour: colourOf },
  });
  const running = nodes.run(stop.signal);
  await nodes.synced();
  api.change(nodeResource, { name: "a" }, { metadata: { labels: { colour: "red" } } });
  await clock.advance(0);
  expect(names(nodes.store.byIndex("byColour", "red"))).toEqual(["a"]);
  api.endWatches();
  api.remove(nodeResource, { name: "b" });
  api.compact();
  await clock.advance(60_000);
  expect(names(nodes.store.list())).toEqual(["a"]);
  api.seed(nodeResource, { metadata: { name: "c" } });
  await clock.advance(60_000);
  expect(names(nodes.store.list())).toEqual(["a", "c"]);
  stop.abort(new Error("done"));
  await running;
});

const bookmark = (version: number, annotations: Record<string, string> = {}): WatchEvent => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version), annotations } },
});
const endOfList = (version: number) => bookmark(version, { "k8s.io/initial-events-end": "true" });
const added = (name: string, version: number): WatchEvent => ({ type: "ADDED", object: node(name, version) });
const refusal = () => new ApiError({ status: 422, reason: "Invalid", message: "resourceVersionMatch: Forbidden" });
const streaming = { streamingList: true };

test("streams the list, shows it only when it is complete, and goes on as the watch on the same connection", async () => {
  const run = start(scripted([], [[added("a", 1), added("b", 2), endOfList(5), added("c", 6)]]), streaming);
  const sizes: number[] = [];
  run.store.subscribe(() => sizes.push(Number(run.reflector.hasSynced())));
  await run.reflector.synced();
  await run.clock.advance(0);
  expect(names(run.store.list())).toEqual(["a", "b", "c"]);
  expect(sizes).toEqual([0, 0, 1]);
  expect(run.watched).toEqual([
    expect.objectContaining({ resourceVersion: "", sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }),
  ]);
  expect(run.listed).toEqual([]);
  expect(run.reflector.resourceVersion()).toBe("6");
  expect(run.reflector.counts()).toMatchObject({ lists: 1, watches: 1, failures: 0 });
  await run.end();
});

test("throws a streamed list away that broke off, and continues a watch that broke after its list without another one", async () => {
  const run = start(
    scripted([], [[added("a", 1), broken()], [added("b", 2), endOfList(5), broken()], [added("c", 6)]]),
    streaming,
  );
  await run.clock.advance(5_000);
  expect(names(run.store.list())).toEqual(["b", "c"]);
  expect(run.watched.map(({ resourceVersion }) => resourceVersion)).toEqual(["", "", "5"]);
  await run.end();
});

test("streams a fresh list after 410 and tells of what is missing from it", async () => {
  const run = start(
    scripted(
      [],
      [
        [added("a", 1), added("b", 2), endOfList(5), gone()],
        [added("b", 2), endOfList(9)],
      ],
    ),
    streaming,
  );
  await run.reflector.synced();
  const seen = vi.fn<StoreSubscriber<KubeObject>>();
  run.store.subscribe(seen, { replay: false });
  await run.clock.advance(2_000);
  expect(seen.mock.calls.map(([old, current]) => [old?.metadata.name, current])).toEqual([["a", undefined]]);
  await run.end();
});

test.each([
  ["refuses streaming", [refusal()]],
  ["ignores it and tells of a change before the end", [added("a", 1), { type: "MODIFIED", object: node("a", 2) }]],
  ["ignores it and sends a plain bookmark", [added("a", 1), bookmark(3)]],
  ["ignores it and ends the watch", [added("a", 1), "end"]],
  ["ignores it and falls silent", [added("a", 1)]],
] as const)("asks for pages, then and later, from a server that %s", async (_, watch) => {
  const run = start(scripted([page([node("a", 1)], 5), page([node("b", 7)], 8)], [watch, [gone()]]), streaming);
  await run.clock.advance(15_000);
  expect(names(run.store.list())).toEqual(["b"]);
  expect(run.listed).toHaveLength(2);
  expect(run.watched.map(({ resourceVersion }) => resourceVersion)).toEqual(["", "5", "8"]);
  await run.end();
});

test("asks for pages once streamed lists were cut off three times in a row, and streams again after that", async () => {
  const cut = (name: string): WatchEvent[] => [added(name, 1)];
  const trouble = () => new ApiError({ status: 500, reason: "InternalError", message: "trouble" });
  const run = start(
    scripted(
      [page([node("a", 1), node("b", 2)], 5)],
      [
        [...cut("a"), broken()],
        [...cut("a"), trouble()],
        [trouble()],
        [added("c", 6), gone()],
        [...cut("c"), broken()],
        [added("d", 7), endOfList(9)],
      ],
    ),
    streaming,
  );
  await run.clock.advance(60_000);
  expect(names(run.store.list())).toEqual(["d"]);
  expect(run.listed).toHaveLength(1);
  expect(run.watched.map(({ sendInitialEvents }) => sendInitialEvents)).toEqual([
    true,
    true,
    true,
    undefined,
    true,
    true,
  ]);
  await run.end();
});

test("fills the cache within seconds although every stream ends with an error at its fifth line", async () => {
  const nodes = Array.from({ length: 40 }, (_, index) => node(`n${index}`, index + 1));
  const lines = (from: number): (WatchEvent | Error)[] => [
    ...nodes.slice(from, from + 4).map((object): WatchEvent => ({ type: "ADDED", object })),
    new ApiError({ status: 500, reason: "InternalError", message: "trouble" }),
  ];
  const run = start(
    scripted(
      [page(nodes, 50)],
      Array.from({ length: 100 }, () => lines(0)),
    ),
    streaming,
  );
  await run.clock.advance(10_000);
  expect(run.reflector.hasSynced()).toBe(true);
  expect(run.store.size).toBe(40);
  await run.end();
});

test("goes on streaming after an outage in which no stream had begun", async () => {
  const run = start(
    scripted([], [[broken()], [broken()], [broken()], [broken()], [added("a", 1), endOfList(5)]]),
    streaming,
  );
  await run.clock.advance(60_000);
  expect(names(run.store.list())).toEqual(["a"]);
  expect(run.listed).toEqual([]);
  await run.end();
});

test("says each sort of trouble once in a series: a kind that is gone is news after a server that was away", async () => {
  const logged: string[] = [];
  const added: WatchEvent = { type: "ADDED", object: node("a", 6) };
  const missing = new ApiError({ status: 404, reason: "NotFound", message: "no such kind" });
  const lists = [broken(), broken(), missing, broken(), missing, page([], 5)];
  const run = start(scripted(lists, [[added, broken()], [broken()]]), {
    log: (level, _, fields) => void (level === "warn" && logged.push(String(fields?.["error"]))),
  });
  await run.clock.advance(60_000);
  expect(run.reflector.hasSynced()).toBe(true);
  expect(logged).toEqual(["reset", "no such kind", "reset"]);
  await run.end();
});

test("asks ever more slowly for a streamed list that never comes", async () => {
  const run = start(
    scripted(
      [],
      Array.from({ length: 1_000 }, () => [broken()]),
    ),
    streaming,
  );
  await run.clock.advance(60_000);
  expect(run.watched.length).toBeGreaterThan(4);
  expect(run.watched.length).toBeLessThan(15);
  await run.end();
});

test("replaces a watch on which nothing arrives within 60 s, without a list and without a pause (half-open connection)", async () => {
  const clock = createVirtualClock();
  const opened: { readonly path: string; readonly atMs: number }[] = [];
  const transport: Pick<Transport, "stream"> = {
    async stream({ path }) {
      opened.push({ path, atMs: clock.monotonicMs() });
      const closed = Promise.withResolvers<never>();
      async function* chunks(): AsyncGenerator<Uint8Array> {
        if (opened.length === 1) yield Buffer.from(`${JSON.stringify(added("a", 7))}\n`);
        await closed.promise;
      }
      return { chunks: chunks(), close: () => closed.reject(new Error("closed")) };
    },
  };
  const run = start(
    {
      ...scripted([page([], 5)], []),
      api: {
        ...scripted([page([], 5)], []).api,
        watch: (_, { resourceVersion }, signal) =>
          openWatch({
            transport,
            path: `/nodes?rv=${resourceVersion}`,
            clock,
            inactivityMs: defaultInactivityMs,
            signal,
          }),
      },
    },
    { clock },
  );
  await clock.advance(60_000);
  expect(opened.map(({ path }) => path)).toEqual(["/nodes?rv=5", "/nodes?rv=7"]);
  expect(opened[1]?.atMs).toBeLessThanOrEqual(55_000);
  expect(run.reflector.counts()).toMatchObject({ lists: 1, silences: 1, failures: 0 });
  await run.end();
});

test("asks for a new watch within 60 s of the last sign of life, whenever that came and however late timers are", async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: defaultInactivityMs - 1 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.integer({ min: 0, max: 5_000 }), async (pauses, lateMs) => {
      const clock = createVirtualClock();
      // A process that has much to do, or a machine that has: timers fire late.
      const late = { ...clock, setTimer: (ms: number, fire: () => void) => clock.setTimer(ms + lateMs, fire) };
      const opened: number[] = [];
      let lastMs = 0;
      const transport: Pick<Transport, "stream"> = {
        async stream() {
          opened.push(clock.monotonicMs());
          const closed = Promise.withResolvers<never>();
          closed.promise.catch(() => {});
          async function* chunks(): AsyncGenerator<Uint8Array> {
            for (const [index, pause] of opened.length === 1 ? pauses.entries() : []) {
              await Promise.race([clock.sleep(pause), closed.promise]);
              lastMs = clock.monotonicMs();
              yield Buffer.from(`${JSON.stringify(bookmark(10 + index))}\n`);
            }
            await closed.promise;
          }
          return { chunks: chunks(), close: () => closed.reject(new Error("closed")) };
        },
      };
      const script = scripted([page([], 5)], []);
      const watch: ApiClient["watch"] = (_, { inactivityMs = defaultInactivityMs }, signal) =>
        openWatch({ transport, path: "/nodes", clock: late, inactivityMs, signal });
      const run = start({ ...script, api: { ...script.api, watch } }, { clock });
      await clock.advance(pauses.reduce((sum, pause) => sum + pause, 60_000));
      expect((opened[1] ?? Infinity) - lastMs).toBeLessThanOrEqual(60_000);
      expect((opened[1] ?? 0) - lastMs).toBeGreaterThanOrEqual(defaultInactivityMs);
      expect(run.listed).toHaveLength(1);
      await run.end();
    }),
    { numRuns: 50 },
  );
});

test("lives on bookmarks for an hour without a list", async () => {
  const clock = createVirtualClock();
  const { api, listed } = scripted([page([], 5)], []);
  async function* bookmarks(signal: AbortSignal): AsyncGenerator<WatchEvent> {
    for (;;) {
      await clock.sleep(45_000, signal);
      yield bookmark(5 + clock.monotonicMs());
    }
  }
  const run = start({ ...scripted([], []), api: { ...api, watch: (_, __, signal) => bookmarks(signal) } }, { clock });
  await clock.advance(3_600_000);
  expect(listed).toHaveLength(1);
  expect(run.reflector.resourceVersion()).toBe(String(5 + 3_600_000));
  await run.end();
});

test("tells subscribers of every object again, as (same, same), each time the resync period is over", async () => {
  const run = start(scripted([page([node("a", 1), node("b", 2)], 5)], []), { resyncMs: 60_000 });
  await run.reflector.synced();
  const seen: (readonly [string | undefined, boolean])[] = [];
  run.store.subscribe((old, current) => seen.push([old?.metadata.name, old === current]), { replay: false });
  await run.clock.advance(59_000);
  expect(seen).toEqual([]);
  await run.clock.advance(8_000);
  expect(seen).toEqual([
    ["a", true],
    ["b", true],
  ]);
  await run.end();
  expect(run.clock.pending()).toBe(0);
});

test("lets a writer wait until the cache has seen its write, by an event, a bookmark or a list", async () => {
  const run = start(scripted([page([], 5), page([], 3)], [[added("a", 7), bookmark(20), broken()], [gone()]]));
  const reached: string[] = [];
  const wait = (version: string) => void run.reflector.reached(version).then(() => reached.push(version));
  for (const version of ["5", "6", "15", "999"]) wait(version);
  await run.clock.advance(0);
  expect(reached).toEqual(["5", "6", "15"]);
  const stop = new AbortController();
  const late = run.reflector.reached("1000", stop.signal);
  stop.abort(new Error("too late"));
  await expect(late).rejects.toThrow("too late");
  // The server was restored from a backup: what was waited for will never come, and the fresh list says so.
  await run.clock.advance(5_000);
  expect(reached).toEqual(["5", "6", "15", "999"]);
  await run.end();
});
