import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test, vi } from "vitest";
import { ApiError } from "../client/api-error.ts";
import type { WatchEvent } from "../client/watch.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { bookmark, broken, gone, names, node, page, scripted, start } from "../testing/scripted-api.ts";
import { createInformer } from "./informer.ts";
import type { StoreSubscriber } from "./store.ts";

const colorOf = (object: KubeObject) => object.metadata.labels?.["color"];

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

test("continues from its newest object after a watch that broke or ended early, without a list", async () => {
  const run = start(
    scripted(
      [page([], 5)],
      [
        [{ type: "ADDED", object: node("a", 7) }, "end"],
        [bookmark(20), broken()],
        [{ type: "DELETED", object: node("a", 21) }],
      ],
    ),
  );
  await run.clock.advance(2_000);
  expect(run.watched.map((options) => options.resourceVersion)).toEqual(["5", "7", "7"]);
  expect(run.listed).toHaveLength(1);
  expect(run.store.size).toBe(0);
  expect(run.reflector.resourceVersion()).toBe("21");
  await run.end();
});

test("is renewed for who is to act by it: lists again what a late watch has not brought, once for all who ask", async () => {
  const { clock, reflector, listed, watched, store, end } = start(
    scripted([page([node("a", 3)], 5), page([node("a", 3), node("b", 9)], 9)], [[], []]),
  );
  const { signal } = new AbortController();
  await clock.advance(60_000);
  const renewed = vi.fn<() => void>();
  void Promise.all([reflector.renew(signal), reflector.renew(signal)]).then(renewed);
  await clock.advance(0);
  expect(renewed).toHaveBeenCalledTimes(1);
  expect(names(store.list())).toEqual(["a", "b"]);
  expect(watched.at(-1)?.resourceVersion).toBe("9");
  await clock.advance(60_000);
  expect(listed).toHaveLength(2);
  await end();
});

test("is renewed by a list also when the watch that is ended for it brings an event, and ends in order", async () => {
  const script = scripted([page([], 5), page([node("a", 9), node("b", 8)], 9)], []);
  const gate = Promise.withResolvers<void>();
  let watches = 0;
  async function* watch(): AsyncGenerator<WatchEvent> {
    watches += 1;
    await (watches === 1 ? gate.promise : new Promise(() => {}));
    yield { type: "ADDED", object: node("a", 9) };
  }
  const { clock, reflector, store } = start({ ...script, api: { ...script.api, watch } });
  await clock.advance(60_000);
  const renewed = vi.fn<() => void>();
  void reflector.renew(new AbortController().signal).then(renewed);
  gate.resolve();
  await clock.advance(0);
  expect(renewed).toHaveBeenCalledTimes(1);
  expect(names(store.list())).toEqual(["a", "b"]);
});

test("is not taken for renewed while the list fails, and a renewal ends with its signal", async () => {
  const { clock, reflector, listed, end } = start(
    scripted([page([node("a", 3)], 5), broken(), page([node("a", 3)], 9)], [[], []]),
  );
  const stop = new AbortController();
  await clock.advance(60_000);
  const [ended, renewed] = [vi.fn<(error: unknown) => void>(), vi.fn<() => void>()];
  void reflector.renew(stop.signal).catch(ended);
  void reflector.renew(new AbortController().signal).then(renewed);
  await clock.advance(0);
  expect([listed.length, renewed.mock.calls.length]).toEqual([2, 0]);
  stop.abort("no longer");
  await clock.advance(5_000);
  expect(ended).toHaveBeenCalledWith("no longer");
  expect([listed.length, renewed.mock.calls.length]).toEqual([3, 1]);
  await end();
});

test("lists again after 410 in the middle of a watch, and reports deleted objects with their last state", async () => {
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

test("retries without limit, with exponential backoff", async () => {
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

test("waits for as long as the server requests before the next list or watch, but no longer than a minute", async () => {
  const busy = (retryAfterMs: number) =>
    new ApiError({ status: 429, reason: "TooManyRequests", message: "", retryAfterMs });
  const run = start(scripted([busy(30_000), page([node("a", 1)], 5)], [[busy(40_000)], [busy(3_600_000)], []]));
  const counts = () => [run.listed.length, run.watched.length];
  await run.clock.advance(29_000);
  expect(counts()).toEqual([1, 0]);
  await run.clock.advance(2_000);
  expect(counts()).toEqual([2, 1]);
  await run.clock.advance(38_000);
  expect(counts()).toEqual([2, 1]);
  await run.clock.advance(2_000);
  expect(counts()).toEqual([2, 2]);
  await run.clock.advance(58_000);
  expect(counts()).toEqual([2, 2]);
  await run.clock.advance(2_000);
  expect(counts()).toEqual([2, 3]);
  await run.end();
});

test("does not list in a tight loop when every list and every watch fails with 410", async () => {
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

test("does not reconnect in a tight loop when every watch ends after a bookmark of the version that is known", async () => {
  const run = start(
    scripted(
      [page([], 5)],
      Array.from({ length: 1_000 }, () => [bookmark(5), "end"]),
    ),
  );
  await run.clock.advance(60_000);
  expect(run.watched.length).toBeGreaterThan(4);
  expect(run.watched.length).toBeLessThan(15);
  await run.end();
});

test("stops in the middle of a wait, and refuses to run twice at once", async () => {
  const run = start(scripted([broken()], []));
  await run.clock.advance(100);
  await expect(run.reflector.run(new AbortController().signal)).rejects.toThrow("is already running");
  await run.end();
  expect(run.clock.pending()).toBe(0);
});

test("rejects waits for the first list when their signal aborts", async () => {
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
    indexes: { byColor: colorOf },
  });
  const running = nodes.run(stop.signal);
  await nodes.synced();
  api.change(nodeResource, { name: "a" }, { metadata: { labels: { color: "red" } } });
  await clock.advance(0);
  expect(names(nodes.store.byIndex("byColor", "red"))).toEqual(["a"]);
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

test("warns once for each cause in a series: a missing kind and an unreachable server are different causes", async () => {
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
