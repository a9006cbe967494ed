import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Log } from "../log.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createStore } from "./store.ts";
import type { Store, StoreSubscriber } from "./store.ts";
import { trimObject } from "./trim.ts";

const pod = (name: string, version: number | string, more: object = {}): KubeObject => ({
  kind: "Pod",
  metadata: { namespace: "n", name, uid: `uid-${name}`, resourceVersion: String(version) },
  ...more,
});
const withUid = (object: KubeObject, uid: string): KubeObject => ({ ...object, metadata: { ...object.metadata, uid } });
const versionOf = (object: KubeObject | undefined) => object?.metadata.resourceVersion;
const onNode = (object: KubeObject) => (typeof object["node"] === "string" ? object["node"] : undefined);

test("finds objects by key, by reference, by namespace and by index", () => {
  const store = createStore({ indexes: { byNode: onNode } });
  store.applyEvent(pod("a", 1, { node: "x" }));
  store.applyEvent(pod("b", 2, { node: "x" }));
  store.applyEvent({ metadata: { name: "cluster-scoped", resourceVersion: "3" } });
  expect(store.size).toBe(3);
  expect(versionOf(store.get("n/a"))).toBe("1");
  expect(versionOf(store.getByRef({ namespace: "n", name: "b" }))).toBe("2");
  expect(store.get("cluster-scoped")).toBeDefined();
  expect(store.list("n")).toHaveLength(2);
  expect(store.byIndex("byNode", "x").map((object) => object.metadata.name)).toEqual(["a", "b"]);
  store.applyEvent(pod("a", 4, { node: "y" }));
  expect(store.byIndex("byNode", "x").map((object) => object.metadata.name)).toEqual(["b"]);
  expect(store.byIndex("byNode", "y").map((object) => object.metadata.name)).toEqual(["a"]);
  store.applyDeletion(pod("a", 5));
  expect(store.byIndex("byNode", "y")).toEqual([]);
});

test("keeps objects frozen all the way down and without managed fields", () => {
  const store = createStore();
  const metadata = {
    name: "a",
    resourceVersion: "1",
    managedFields: [{ manager: "kubectl" }],
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" },
  };
  const list = [{ x: 1 }];
  store.applyEvent({ metadata, spec: { list } });
  const stored = store.get("a");
  expect(stored?.metadata).toEqual({ name: "a", resourceVersion: "1", annotations: { kept: "yes" } });
  expect(Object.isFrozen(stored?.metadata.annotations)).toBe(true);
  expect(Object.isFrozen(list)).toBe(true);
  expect(Object.isFrozen(list[0])).toBe(true);
});

test("leaves an object that has nothing to trim as it is", () => {
  const object = pod("a", 1);
  expect(trimObject(object)).toBe(object);
});

test("ignores an event that is not newer than what it has", () => {
  const store = createStore();
  const seen = vi.fn<StoreSubscriber<KubeObject>>();
  store.applyEvent(pod("a", "10"));
  store.subscribe(seen, { replay: false });
  store.applyEvent(pod("a", "9"));
  store.applyEvent(pod("a", "10"));
  expect(seen).not.toHaveBeenCalled();
  expect(versionOf(store.get("n/a"))).toBe("10");
});

test("shows an own write at once and does not fall back when the watch brings older states", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1, { phase: "Pending" }));
  store.applyWrite(pod("a", 5, { phase: "Running" }));
  store.applyEvent(pod("a", 3, { phase: "Stale" }));
  expect(store.get("n/a")).toMatchObject({ phase: "Running" });
  store.applyWrite(pod("a", 4, { phase: "AnswerThatCameLate" }));
  expect(store.get("n/a")).toMatchObject({ phase: "Running" });
});

test("takes a late event with a lower generation for no earlier state of the server where versions cannot be compared", () => {
  const store = createStore();
  const onRewind = vi.fn<(found: string) => void>();
  store.onRewind(onRewind);
  const opaque = (resourceVersion: string, generation: number): KubeObject => ({
    metadata: { namespace: "n", name: "a", uid: "u", resourceVersion, generation },
  });
  store.applyEvent(opaque("r-a", 4));
  store.applyWrite(opaque("r-c", 6));
  store.applyEvent(opaque("r-b", 5));
  store.applyEvent(opaque("r-c", 6));
  expect(onRewind).not.toHaveBeenCalled();
  expect(store.get("n/a")?.metadata.generation).toBe(6);
});

test("does not bring a deleted object back, however late its events come", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  store.applyDelete({ namespace: "n", name: "a", uid: "uid-a" });
  expect(store.size).toBe(0);
  store.applyEvent(pod("a", 2));
  store.applyWrite(pod("a", 3));
  expect(store.size).toBe(0);
});

test("takes a new object of the same name after a deletion", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  store.applyDeletion(pod("a", 2));
  store.applyEvent(withUid(pod("a", 3), "another"));
  expect(store.get("n/a")?.metadata.uid).toBe("another");
  store.applyDeletion(pod("a", 2));
  expect(store.get("n/a")?.metadata.uid).toBe("another");
});

test("reports another object of the same name as a deletion and an addition", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  const seen: (string | undefined)[][] = [];
  store.subscribe((old, current) => seen.push([old?.metadata.uid, current?.metadata.uid]), { replay: false });
  store.applyEvent(withUid(pod("a", 3), "another"));
  expect(seen).toEqual([
    ["uid-a", undefined],
    [undefined, "another"],
  ]);
});

test("takes the answer to a write that removed the last finalizer as a deletion", () => {
  const store = createStore();
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  store.applyEvent(pod("a", 1));
  const released = pod("a", 2);
  store.applyWrite({ ...released, metadata: { ...released.metadata, deletionTimestamp, finalizers: ["f"] } });
  expect(store.size).toBe(1);
  store.applyWrite({
    ...released,
    metadata: { ...released.metadata, resourceVersion: "3", deletionTimestamp, finalizers: [] },
  });
  expect(store.size).toBe(0);
});

test("synthesises deletions with the last known object when a list lacks it", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1, { spec: "last known" }));
  store.applyEvent(pod("b", 2));
  const seen = vi.fn<StoreSubscriber<KubeObject>>();
  store.subscribe(seen, { replay: false });
  store.replaceAll([pod("b", 2)], "7", store.beginList());
  expect(seen).toHaveBeenCalledTimes(1);
  expect(seen).toHaveBeenCalledWith(expect.objectContaining({ spec: "last known" }), undefined);
});

test("keeps what was written, and forgets what was deleted, while a list was under way", () => {
  const store = createStore();
  store.replaceAll([pod("deleted", 1)], "5", store.beginList());
  const mark = store.beginList();
  store.applyWrite(pod("created", 8));
  store.applyDelete({ namespace: "n", name: "deleted", uid: "uid-deleted" });
  store.replaceAll([pod("deleted", 1)], "6", mark);
  expect(store.list().map((object) => object.metadata.name)).toEqual(["created"]);
  store.replaceAll([], "9", store.beginList());
  expect(store.size).toBe(0);
});

test("follows a server that returned to an earlier state", () => {
  const store = createStore();
  store.replaceAll([pod("a", 100), pod("b", 101)], "120", store.beginList());
  store.applyDeletion(pod("b", 121));
  store.replaceAll([pod("a", 3), pod("b", 4)], "7", store.beginList());
  expect([versionOf(store.get("n/a")), versionOf(store.get("n/b"))]).toEqual(["3", "4"]);
  store.applyEvent(pod("a", 8));
  store.applyEvent(pod("b", 9));
  expect([versionOf(store.get("n/a")), versionOf(store.get("n/b"))]).toEqual(["8", "9"]);
  // From here on the versions of that state count.
  const next = store.beginReplacement();
  for (const object of [pod("a", 8), pod("b", 9)]) next.add(object);
  expect(next.findRewind("10")).toBeUndefined();
});

test("takes back by events what a server that only lagged behind did not have yet", () => {
  const store = createStore();
  store.replaceAll([pod("a", 100), withUid(pod("b", 101), "first")], "120", store.beginList());
  store.applyDeletion(withUid(pod("b", 121), "first"));
  store.applyWrite(withUid(pod("b", 122), "second"));
  store.applyWrite(pod("c", 123));
  store.replaceAll([pod("a", 100), withUid(pod("b", 101), "first")], "120", store.beginList());
  expect([store.get("n/b")?.metadata.uid, store.get("n/c")]).toEqual(["first", undefined]);
  store.applyDeletion(withUid(pod("b", 121), "first"));
  store.applyEvent(withUid(pod("b", 122), "second"));
  store.applyEvent(pod("c", 123));
  expect([store.get("n/b")?.metadata.uid, versionOf(store.get("n/c"))]).toEqual(["second", "123"]);
});

test("keeps what is written while it takes over the earlier state of a server", () => {
  const store = createStore();
  store.replaceAll([pod("a", 100), pod("b", 5)], "120", store.beginList());
  store.subscribe((_, current) => {
    if (versionOf(current) === "3") store.applyWrite(withUid(pod("b", 8), "again"));
  });
  store.replaceAll([pod("a", 3)], "7", store.beginList());
  expect([versionOf(store.get("n/a")), versionOf(store.get("n/b"))]).toEqual(["3", "8"]);
});

test("keeps an object that is deleted with a grace period until that is over", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  const { metadata } = pod("a", 2);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  store.applyWrite({ metadata: { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 } });
  expect(store.get("n/a")?.metadata.deletionTimestamp).toBe(deletionTimestamp);
  store.applyWrite({
    metadata: { ...metadata, resourceVersion: "3", deletionTimestamp, deletionGracePeriodSeconds: 0 },
  });
  expect(store.size).toBe(0);
});

test("does not bring a deleted object back by an event of the version of its deletion", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  store.applyDeletion(pod("a", 5));
  store.applyEvent(pod("a", 5));
  expect(store.size).toBe(0);
});

test("takes an object back in an older version from a list that is newer than both", () => {
  const store = createStore();
  store.applyEvent(pod("a", 90));
  store.replaceAll([pod("a", 3)], "120", store.beginList());
  expect(versionOf(store.get("n/a"))).toBe("3");
});

test.each([
  ["an event", (store: Store<KubeObject>) => store.applyDeletion(pod("a", 2))],
  ["a list", (store: Store<KubeObject>) => store.replaceAll([], "2", store.beginList())],
  ["an own delete", (store: Store<KubeObject>) => store.applyDelete({ namespace: "n", name: "a", uid: "uid-a" })],
])("shows an object again that %s had shown as deleted, once a later list has it", (_, remove) => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  remove(store);
  expect(store.size).toBe(0);
  store.replaceAll([pod("a", 1)], "2", store.beginList());
  expect(versionOf(store.get("n/a"))).toBe("1");
});

test("shows an object again that a list lacked, when an event with a newer version arrives", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  store.replaceAll([], "5", store.beginList());
  store.applyEvent(pod("a", 4));
  expect(store.size).toBe(0);
  store.applyEvent(pod("a", 6));
  expect(versionOf(store.get("n/a"))).toBe("6");
});

test("goes on when a subscriber or an index function throws", () => {
  const log = vi.fn<Log>();
  const store = createStore({
    log,
    indexes: {
      broken: (object: KubeObject) => {
        if (object.metadata.name === "bad") throw new Error("no node");
        return "ok";
      },
    },
  });
  const seen = vi.fn<StoreSubscriber<KubeObject>>();
  store.subscribe(() => {
    throw new Error("subscriber");
  });
  store.subscribe(seen);
  store.applyEvent(pod("bad", 1));
  store.applyEvent(pod("good", 2));
  expect(seen).toHaveBeenCalledTimes(2);
  expect(store.byIndex("broken", "ok").map((object) => object.metadata.name)).toEqual(["good"]);
  expect(log).toHaveBeenCalledWith("error", "A subscriber of a store threw", {
    kind: "Pod",
    namespace: "n",
    name: "bad",
    error: "subscriber",
  });
  expect(log).toHaveBeenCalledWith(
    "error",
    "An index function threw",
    expect.objectContaining({ namespace: "n", name: "bad" }),
  );
});

test("replays what is there to a late subscriber, and stops when it leaves", () => {
  const store = createStore();
  store.applyEvent(pod("a", 1));
  const seen = vi.fn<StoreSubscriber<KubeObject>>();
  const leave = store.subscribe(seen);
  expect(seen).toHaveBeenCalledWith(undefined, expect.objectContaining({ kind: "Pod" }));
  leave();
  store.applyEvent(pod("a", 2));
  expect(seen).toHaveBeenCalledTimes(1);
});

/** A history of one server: each step creates, changes or deletes one of few names, with ever newer versions. */
const history = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean() }), {
  maxLength: 30,
  size: "max",
});

function toEvents(steps: readonly { readonly name: string; readonly remove: boolean }[]) {
  const alive = new Map<string, KubeObject>();
  const events: { readonly object: KubeObject; readonly deleted: boolean }[] = [];
  for (const [index, { name, remove }] of steps.entries()) {
    const old = alive.get(name);
    if (remove && old === undefined) continue;
    const fresh = pod(name, index + 1, { node: `node-${index % 3}` });
    const object = withUid(fresh, old?.metadata.uid ?? `uid-${name}-${index}`);
    if (remove) alive.delete(name);
    else alive.set(name, object);
    events.push({ object, deleted: remove });
  }
  return { events, alive };
}

test("ends with the server's state, in whatever order own writes run ahead of the watch", () => {
  fc.assert(
    fc.property(history, fc.array(fc.nat(29), { maxLength: 15, size: "max" }), (steps, ahead) => {
      const { events, alive } = toEvents(steps);
      const store = createStore({ indexes: { byNode: onNode } });
      const mirror = new Map<string, KubeObject>();
      const faults: string[] = [];
      store.subscribe((old, current) => {
        const key = (current ?? old)?.metadata.name ?? "";
        // The old state is always the one that was reported before.
        if (current !== undefined && mirror.get(key) !== old) faults.push(key);
        if (current === undefined) mirror.delete(key);
        else mirror.set(key, current);
      });
      for (const [index, { object, deleted }] of events.entries()) {
        // An own write of a later state arrives before the watch comes to it.
        for (const jump of ahead.filter((_, nth) => nth % 3 === index % 3)) {
          const later = events[jump];
          if (later === undefined || jump < index) continue;
          if (later.deleted)
            store.applyDelete({
              namespace: "n",
              name: later.object.metadata.name ?? "",
              uid: later.object.metadata.uid,
            });
          else if (later.object.metadata.uid === object.metadata.uid) store.applyWrite(later.object);
        }
        if (deleted) store.applyDeletion(object);
        else store.applyEvent(object);
      }
      expect(faults).toEqual([]);
      const expected = [...alive.values()].map(identify).toSorted((a, b) => a.localeCompare(b));
      expect(
        store
          .list()
          .map(identify)
          .toSorted((a, b) => a.localeCompare(b)),
      ).toEqual(expected);
      expect([...mirror.values()].toSorted(byName)).toEqual([...store.list()].toSorted(byName));
      for (const node of ["node-0", "node-1", "node-2"]) {
        expect([...store.byIndex("byNode", node)].toSorted(byName)).toEqual(
          store
            .list()
            .filter((object) => onNode(object) === node)
            .toSorted(byName),
        );
      }
    }),
  );
});

function byName(a: KubeObject, b: KubeObject): number {
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

function identify(object: KubeObject): string {
  return `${object.metadata.uid}@${versionOf(object)}`;
}

test("keeps an object that cannot be read as it was, or by its identity, and all others", async () => {
  const log = vi.fn<Log>();
  const trim = (object: KubeObject): KubeObject => {
    if (object["bad"] === true) throw new TypeError("odd");
    return trimObject(object);
  };
  const store = createStore({ trim, log });
  store.applyEvent(pod("a", 1, { node: "x" }));
  store.applyEvent(pod("a", 2, { bad: true }));
  store.applyEvent(pod("b", 3, { bad: true, node: "y" }));
  store.applyEvent(pod("c", 4, { node: "z" }));
  expect(store.get("n/a")).toEqual(pod("a", 2, { node: "x" }));
  expect(store.get("n/b")).toEqual(pod("b", 3));
  expect(store.get("n/c")).toEqual(pod("c", 4, { node: "z" }));
  expect(log.mock.calls).toEqual(
    ["a", "b"].map((name) => [
      "error",
      "Failed to read an object; it is kept as it was",
      { kind: "Pod", namespace: "n", name, error: "odd" },
    ]),
  );
});

test("keeps an object that is nested deeper than the stack", () => {
  const log = vi.fn<Log>();
  const store = createStore({ log });
  const deep: unknown = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
  store.applyEvent(pod("a", 1, { deep }));
  expect(store.get("n/a")).toEqual(pod("a", 1));
  expect(log).toHaveBeenCalledTimes(1);
});
