import { expect, test } from "vitest";
import { nodeResource } from "../objects/built-in-resources.ts";
import { node, scripted } from "../testing/scripted-api.ts";
import { proveHistory } from "./prove-history.ts";
import { createStore } from "./store.ts";

const { signal } = new AbortController();

/** A cache of `a` at 10 and `b` at 20 that is complete up to a bookmark at 50, and a server that has these versions. */
function setUp(versions: Readonly<Record<string, number>>) {
  const { api, existing } = scripted([], []);
  for (const [name, version] of Object.entries(versions)) existing.set(name, version);
  const store = createStore();
  for (const object of [node("a", 10), node("b", 20)]) store.applyEvent(object);
  return { store, prove: (version = "50") => proveHistory({ api, type: nodeResource, store }, version, signal) };
}

test("continues from the newest object, not from the bookmark, when the server has it", async () => {
  await expect(setUp({ a: 10, b: 20 }).prove()).resolves.toBe("20");
});

test("continues from the version of the cache when an own write is newer", async () => {
  await expect(setUp({ a: 10, b: 20 }).prove("15")).resolves.toBe("15");
});

test("continues from the newest object that has not changed since", async () => {
  await expect(setUp({ a: 10, b: 60 }).prove()).resolves.toBe("10");
});

test.each([
  ["is gone", { a: 10 }],
  ["is older", { a: 10, b: 5 }],
  ["has changed, as all others have", { a: 70, b: 60 }],
])("lists when the newest object %s", async (_, versions) => {
  await expect(setUp(versions).prove()).resolves.toBeUndefined();
});

test("lists when the cache is empty", async () => {
  const { api } = scripted([], []);
  await expect(proveHistory({ api, type: nodeResource, store: createStore() }, "50", signal)).resolves.toBeUndefined();
});

test("lists when an object is back that was deleted after the newest one", async () => {
  const { store, prove } = setUp({ a: 10, b: 20, c: 19, d: 25 });
  store.applyDeletion(node("c", 19));
  await expect(prove()).resolves.toBe("20");
  store.applyDeletion(node("d", 30));
  await expect(prove()).resolves.toBeUndefined();
});

test("lists when more objects were deleted since than are worth to be read", async () => {
  const { store, prove } = setUp({ a: 10, b: 20 });
  for (let index = 0; index < 5; index++) store.applyDeletion(node(`deleted-${index}`, 30 + index));
  await expect(prove()).resolves.toBe("20");
  store.applyDelete({ name: "another", uid: "another" });
  await expect(prove()).resolves.toBeUndefined();
});

test("does not read again what an own delete removed long ago, after its event", async () => {
  const { store, prove } = setUp({ a: 10, b: 20, c: 1 });
  store.applyDeletion(node("c", 15));
  store.applyDelete({ name: "c", uid: "c" });
  await expect(prove()).resolves.toBe("20");
});
