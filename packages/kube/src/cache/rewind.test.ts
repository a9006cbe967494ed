import { type Clock, seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test, vi } from "vitest";
import { ApiError } from "../client/api-error.ts";
import { createServerHistory } from "../client/server-history.ts";
import { createController, done, type Reconcile } from "../controller/controller.ts";
import type { KubeObject, ObjectList } from "../objects/kube-object.ts";
import { added, bookmark, broken, gone, names, node, page, scripted, start } from "../testing/scripted-api.ts";

const versions = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.resourceVersion);
const at = (version: number, generation: number): KubeObject => {
  const { metadata, ...rest } = node("a", version);
  return { ...rest, metadata: { ...metadata, generation } };
};

test("lists again when the server, back after an outage, has an older version of the newest object", async () => {
  const script = scripted(
    [page([node("a", 3)], 5), page([node("a", 3)], 9)],
    [[added("b", 20), { type: "MODIFIED", object: node("a", 21) }, broken()], []],
  );
  script.existing.set("a", 3);
  script.existing.set("b", undefined);
  const run = start(script);
  await run.clock.advance(0);
  expect(names(run.store.list())).toEqual(["a", "b"]);
  await run.clock.advance(5_000);
  expect(versions(run.store.list())).toEqual(["3"]);
  expect(run.watched.at(-1)?.resourceVersion).toBe("9");
  await run.end();
});

/** A watch of the default cache that is as old as the server lets it become. */
const timedOut = async (clock: Clock): Promise<"end"> => {
  await clock.sleep(46_000);
  return "end";
};

test("reads nothing when the server ends a watch at its time", async () => {
  const clock = createVirtualClock();
  const script = scripted([page([node("a", 3)], 5)], [[bookmark(6), () => timedOut(clock)], [bookmark(7)]]);
  const run = start(script, { clock });
  await clock.advance(50_000);
  expect(run.watched.map(({ resourceVersion }) => resourceVersion)).toEqual(["5", "6"]);
  expect([run.reads, run.reflector.isCurrent()]).toEqual([[], true]);
  await run.end();
});

test("lists again when an event is older than the version before it", async () => {
  const run = start(
    scripted([page([], 5), page([node("a", 7)], 7)], [[added("a", 20), added("b", 7)], [added("c", 8)]]),
  );
  await run.clock.advance(5_000);
  expect(names(run.store.list())).toEqual(["a", "c"]);
  expect(versions(run.store.list())).toEqual(["7", "8"]);
  await run.end();
});

test("has the other caches of the client list again, and ends what they have under way", async () => {
  const history = createServerHistory(createVirtualClock());
  const first = scripted([page([], 5), page([], 7)], [[added("a", 20), added("b", 7)]]);
  const second = scripted([page([node("x", 4)], 15), page([node("x", 4), node("y", 6)], 7)], [[added("z", 18)]]);
  const [one, other] = [first, second].map((script) => start({ ...script, api: { ...script.api, history } }));
  await other?.clock.advance(0);
  expect(names(other?.store.list() ?? [])).toEqual(["x", "z"]);
  await one?.clock.advance(0);
  expect(other?.reflector.isCurrent()).toBe(false);
  await other?.clock.advance(5_000);
  await one?.clock.advance(5_000);
  expect(names(other?.store.list() ?? [])).toEqual(["x", "y"]);
  expect([one?.reflector.isCurrent(), other?.reflector.isCurrent()]).toEqual([true, true]);
  // One restore, one epoch, regardless of the observer.
  expect(history.epoch()).toBe(1);
  await one?.end();
  await other?.end();
});

test("lets a controller decide nothing until all of its caches have been listed again", async () => {
  const clock = createVirtualClock();
  const history = createServerHistory(clock);
  const script = scripted([page([], 5)], []);
  const held = Promise.withResolvers<ObjectList>();
  let lists = 0;
  const list = () => (++lists === 1 ? Promise.resolve(page([], 5)) : held.promise);
  const run = start({ ...script, api: { ...script.api, history, list: list as never } }, { clock });
  const reconcile = vi.fn<Reconcile>(() => Promise.resolve(done));
  const controller = createController({
    name: "test",
    reconcile,
    waitFor: [run.reflector],
    clock,
    random: seededRandom(1),
  });
  const stop = new AbortController();
  const running = controller.start(stop.signal);
  await clock.advance(0);
  controller.enqueue("a");
  await clock.advance(0);
  expect(reconcile).toHaveBeenCalledTimes(1);

  history.report({ resource: "leases", found: "an older version" });
  controller.enqueue("a");
  await clock.advance(5_000);
  expect(reconcile).toHaveBeenCalledTimes(1);
  held.resolve(page([], 3));
  await clock.advance(5_000);
  expect(reconcile).toHaveBeenCalledTimes(2);
  stop.abort(new Error("done"));
  await running;
  await run.end();
});

test("does not use a list that lacks objects that exist", async () => {
  const all = ["a", "b", "c", "d", "e"].map((name, index) => node(name, index + 1));
  const script = scripted(
    [page(all, 5), page([], 9), page(all, 9)],
    [[{ type: "BOOKMARK", object: { metadata: {} } }]],
  );
  for (const { metadata } of all) script.existing.set(metadata.name ?? "", 1);
  const history = createServerHistory(createVirtualClock());
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(0);
  history.report({ resource: "leases", found: "an older version" });
  await run.clock.advance(500);
  await run.clock.advance(600);
  expect(run.store.size).toBe(5);
  await run.clock.advance(10_000);
  expect(run.store.size).toBe(5);
  expect(run.reflector.counts()).toMatchObject({ lists: 3, incompleteLists: 1 });
  await run.end();
});

test("uses a list that lacks objects when none of them exists", async () => {
  const all = ["a", "b", "c", "d", "e"].map((name, index) => node(name, index + 1));
  const history = createServerHistory(createVirtualClock());
  const script = scripted([page(all, 5), page([], 9)], []);
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(0);
  history.report({ resource: "leases", found: "an older version" });
  await run.clock.advance(5_000);
  expect(run.store.size).toBe(0);
  await run.end();
});

test.each([
  ["may not be read", () => Promise.reject(new ApiError({ status: 403, reason: "Forbidden", message: "no" }))],
  ["are others of the same name", async () => ({ metadata: { name: "a", uid: "another", resourceVersion: "8" } })],
])("uses a list that lacks objects which %s", async (_, get) => {
  const history = createServerHistory(createVirtualClock());
  const script = scripted([page([node("a", 1), node("b", 2)], 5), page([], 9)], []);
  const run = start({ ...script, api: { ...script.api, history, get: get as typeof script.api.get } });
  await run.clock.advance(0);
  history.report({ resource: "leases", found: "an older version" });
  await run.clock.advance(5_000);
  expect(run.store.size).toBe(0);
  await run.end();
});

test("does not use a list from the past while an object that is newer exists", async () => {
  const history = createServerHistory(createVirtualClock());
  const now = page([node("a", 3), node("b", 20)], 22);
  const script = scripted([page([node("a", 3)], 5), page([node("gone", 2)], 9), now], [[added("b", 20), gone()], []]);
  script.existing.set("b", 20);
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(500);
  expect([run.listed.length, names(run.store.list())]).toEqual([2, ["a", "b"]]);
  await run.clock.advance(10_000);
  expect([run.listed.length, names(run.store.list())]).toEqual([3, ["a", "b"]]);
  expect([history.epoch(), run.reflector.isCurrent(), run.reflector.counts().incompleteLists]).toEqual([0, true, 1]);
  await run.end();
});

test.each([
  ["does not exist", undefined],
  ["has an older version", 4],
])("takes an older list for a restored server when the newest object %s", async (_, version) => {
  const history = createServerHistory(createVirtualClock());
  const script = scripted([page([node("a", 3)], 5), page([node("a", 3)], 9)], [[added("b", 20), gone()], []]);
  if (version !== undefined) script.existing.set("b", version);
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(5_000);
  expect([names(run.store.list()), history.epoch(), run.reflector.isCurrent()]).toEqual([["a"], 1, true]);
  await run.end();
});

test("does not store a list whose answer came after the end", async () => {
  const script = scripted([page([node("a", 1)], 5)], [[gone()]]);
  const run = start(script);
  script.lists.push(() => {
    void run.end();
    return page([], 9);
  });
  await run.clock.advance(5_000);
  await run.end();
  expect([run.listed.length, names(run.store.list())]).toEqual([2, ["a"]]);
});

test("lists again at once when the server has forgotten the version of a watch that was healthy", async () => {
  const run = start(scripted([page([], 5), page([], 9)], [[added("a", 6), gone()], []]));
  await run.clock.advance(0);
  expect([run.listed.length, run.watched.at(-1)?.resourceVersion]).toEqual([2, "9"]);
  await run.end();
});

test("is not in sync between its own evidence of an earlier state and the next list", async () => {
  const run = start(scripted([page([], 5), page([node("a", 7)], 7)], [[added("a", 20), added("b", 7)], []]));
  await run.clock.advance(0);
  const synced = vi.fn<() => void>();
  void run.reflector.synced().then(synced);
  await run.clock.advance(0);
  expect([run.reflector.isCurrent(), synced.mock.calls.length]).toEqual([false, 0]);
  await run.clock.advance(5_000);
  expect([run.reflector.isCurrent(), synced.mock.calls.length]).toEqual([true, 1]);
  await run.end();
});

test("is current again after a list that follows an outage", async () => {
  const history = createServerHistory(createVirtualClock());
  const script = scripted([page([node("a", 4)], 15), page([], 7)], [[broken()], []]);
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(0);
  history.report({ resource: "leases", found: "an older version" });
  await run.clock.advance(5_000);
  expect([run.listed.length, run.store.size, run.reflector.isCurrent()]).toEqual([2, 0, true]);
  await run.end();
});

test.each([
  ["without any answer", new ApiError({ status: 0, reason: "WatchSilent", message: "nothing arrived" }), false],
  ["that was reset", broken(), false],
  ["that ended before its time", "end", true],
  [
    "that an overloaded server refused",
    new ApiError({ status: 429, reason: "TooManyRequests", message: "busy" }),
    true,
  ],
] as const)("watches no longer after a watch %s, until it has read the newest object", async (_, end, isCurrent) => {
  const script = scripted([page([node("a", 4)], 5)], [[end], []]);
  const held = Promise.withResolvers<KubeObject>();
  const get = () => held.promise;
  const run = start({ ...script, api: { ...script.api, get: get as typeof script.api.get } });
  await run.clock.advance(5_000);
  expect([run.reflector.isCurrent(), run.watched.length]).toEqual([isCurrent, 1]);
  held.resolve(node("a", 4));
  await run.clock.advance(0);
  expect([run.reflector.isCurrent(), run.listed.length, run.store.size]).toEqual([true, 1, 1]);
  expect(run.watched.at(-1)?.resourceVersion).toBe("4");
  await run.end();
});

test("is not current while it lists because the newest object is gone", async () => {
  const listed = Promise.withResolvers<ObjectList>();
  let lists = 0;
  const list = () => (++lists === 1 ? Promise.resolve(page([node("a", 3), node("b", 4)], 5)) : listed.promise);
  const script = scripted([], [["end"], []]);
  const run = start({ ...script, api: { ...script.api, list: list as never } });
  await run.clock.advance(5_000);
  expect([run.reflector.isCurrent(), lists]).toEqual([false, 2]);
  listed.resolve(page([node("a", 3)], 9));
  await run.clock.advance(0);
  expect([run.reflector.isCurrent(), names(run.store.list())]).toEqual([true, ["a"]]);
  await run.end();
});

test("takes evidence that comes late for the rewind that is known already, and later one for another", async () => {
  const clock = createVirtualClock();
  const history = createServerHistory(clock);
  const evidence = { resource: "leases", found: "an older version" };
  history.suspect(evidence);
  history.suspect(evidence);
  expect(history.epoch()).toBe(1);
  await clock.advance(61_000);
  history.suspect(evidence);
  expect(history.epoch()).toBe(2);
});

test("lists again when another cache finds out while this one waits for its next attempt", async () => {
  const history = createServerHistory(createVirtualClock());
  const busy = new ApiError({ status: 429, reason: "TooManyRequests", message: "storage is (re)initializing" });
  const script = scripted([page([node("a", 4)], 15), page([], 7)], [[busy], []]);
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(0);
  expect(names(run.store.list())).toEqual(["a"]);
  history.report({ resource: "leases", found: "an older version" });
  expect(run.reflector.isCurrent()).toBe(false);
  await run.clock.advance(5_000);
  expect(run.store.size).toBe(0);
  expect(run.reflector.isCurrent()).toBe(true);
  await run.end();
});

test("lists again when an own write has a newer version and a lower generation, and does not keep its answer", async () => {
  const history = createServerHistory(createVirtualClock());
  const script = scripted([page([at(20, 2), node("b", 19)], 20), page([at(1_001, 1)], 1_001)], [[], []]);
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(0);
  // A backup of before the last change was restored, and its revision raised: the status of what is back was written.
  run.store.applyWrite(at(1_001, 1));
  expect(versions(run.store.list())).toEqual(["20", "19"]);
  expect(run.reflector.isCurrent()).toBe(false);
  await run.clock.advance(5_000);
  expect(versions(run.store.list())).toEqual(["1001"]);
  expect([run.reflector.isCurrent(), history.epoch()]).toEqual([true, 1]);
  await run.end();
});

test("finds a lower generation in a list, in which all versions are newer", async () => {
  const history = createServerHistory(createVirtualClock());
  const script = scripted(
    [page([at(20, 2)], 20), page([at(1_001, 1)], 1_002), page([at(1_001, 1)], 1_002)],
    [[gone()], []],
  );
  const run = start({ ...script, api: { ...script.api, history } });
  await run.clock.advance(5_000);
  expect(versions(run.store.list())).toEqual(["1001"]);
  expect([run.reflector.isCurrent(), history.epoch()]).toEqual([true, 1]);
  await run.end();
});
