import { expect, test, vi } from "vitest";
import { ApiError } from "../client/api-error.ts";
import type { WatchEvent } from "../client/watch.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { added, bookmark, broken, gone, names, node, page, scripted, start } from "../testing/scripted-api.ts";
import type { StoreSubscriber } from "./store.ts";

const endOfList = (version: number) => bookmark(version, { "k8s.io/initial-events-end": "true" });
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
  expect(run.watched.map(({ resourceVersion }) => resourceVersion)).toEqual(["", "", "2"]);
  await run.end();
});

test("streams a new list after 410 and reports the objects missing from it", async () => {
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
  ["ignores it and sends a change before the end", [added("a", 1), { type: "MODIFIED", object: node("a", 2) }]],
  ["ignores it and sends a plain bookmark", [added("a", 1), bookmark(3)]],
  ["ignores it and ends the watch", [added("a", 1), "end"]],
] as const)("asks for pages, then and later, from a server that %s", async (_, watch) => {
  const run = start(scripted([page([node("a", 1)], 5), page([node("b", 7)], 8)], [watch, [gone()]]), streaming);
  await run.clock.advance(15_000);
  expect(names(run.store.list())).toEqual(["b"]);
  expect(run.listed).toHaveLength(2);
  expect(run.watched.map(({ resourceVersion }) => resourceVersion)).toEqual(["", "5", "8"]);
  await run.end();
});

test("asks for pages once a streamed list was silent for ten seconds, and streams the next one", async () => {
  const run = start(
    scripted([page([node("a", 1)], 5)], [[added("a", 1)], [gone()], [added("b", 7), endOfList(8)]]),
    streaming,
  );
  await run.clock.advance(9_000);
  expect(run.listed).toEqual([]);
  await run.clock.advance(3_000);
  expect(run.listed).toHaveLength(1);
  await run.clock.advance(3_000);
  expect(names(run.store.list())).toEqual(["b"]);
  expect(run.watched.map(({ sendInitialEvents }) => sendInitialEvents)).toEqual([true, undefined, true]);
  await run.end();
});

test("asks for pages once streamed lists were cut off three times in a row, and streams again after that", async () => {
  const cut = (name: string): WatchEvent[] => [added(name, 1)];
  const failure = () => new ApiError({ status: 500, reason: "InternalError", message: "failure" });
  const run = start(
    scripted(
      [page([node("a", 1), node("b", 2)], 5)],
      [
        [...cut("a"), broken()],
        [...cut("a"), failure()],
        [failure()],
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
    new ApiError({ status: 500, reason: "InternalError", message: "failure" }),
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

test("backs off from a streamed list that never comes", async () => {
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
