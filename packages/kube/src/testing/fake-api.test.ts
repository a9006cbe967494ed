import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { isAlreadyExists, isConflict, isGone, isInvalid, isNotFound } from "../client/api-error.ts";
import { nodeResource, podResource } from "../objects/built-in-resources.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { conflictError, serverError } from "./errors.ts";
import { createFakeApi } from "./fake-api.ts";

const ref = { namespace: "n", name: "p" };
const pod = (more: object = {}): KubeObject => ({ metadata: { ...ref }, spec: { x: 1 }, ...more });
const setUp = () => createFakeApi({ clock: createVirtualClock({ now: new Date("2026-01-02T03:04:05Z") }) });
const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

test("gives a new object what an API server gives it, and no status", async () => {
  const api = setUp();
  const created = await api.create(podResource, pod({ status: { phase: "Running" } }));
  expect(created).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...ref,
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-01-02T03:04:05Z",
    },
    spec: { x: 1 },
  });
  expect(isAlreadyExists(await caught(api.create(podResource, pod())))).toBe(true);
  const unnamed: KubeObject = { metadata: { namespace: "n", generateName: "g-" } };
  const generated = await api.create(podResource, unnamed);
  expect(generated.metadata.name).toMatch(/^g-[a-z0-9]{5}$/);
});

test("keeps spec and status apart, and counts changes of the spec only", async () => {
  const api = setUp();
  await api.create(podResource, pod());
  const both = { spec: { x: 2 }, status: { phase: "Running" } };
  const main = await api.patch(podResource, ref, both, { kind: "merge" });
  expect(main).toMatchObject({ spec: { x: 2 }, metadata: { generation: 2 } });
  expect(main).not.toHaveProperty("status");
  const status = await api.patch(
    podResource,
    ref,
    { ...both, spec: { x: 3 } },
    { kind: "merge", subresource: "status" },
  );
  expect(status).toMatchObject({ spec: { x: 2 }, status: { phase: "Running" }, metadata: { generation: 2 } });
});

test("refuses a write that is based on an old version or meant for another object", async () => {
  const api = setUp();
  const old = await api.create(podResource, pod());
  await api.patch(podResource, ref, { spec: { x: 2 } }, { kind: "merge" });
  expect(isConflict(await caught(api.replace(podResource, old)))).toBe(true);
  const { resourceVersion = "" } = old.metadata;
  expect(isConflict(await caught(api.patch(podResource, ref, {}, { kind: "merge", resourceVersion })))).toBe(true);
  expect(isConflict(await caught(api.patch(podResource, ref, {}, { kind: "merge", uid: "x" })))).toBe(true);
  expect(isConflict(await caught(api.delete(podResource, ref, { uid: "x" })))).toBe(true);
});

test("leaves the version alone when a write changes nothing", async () => {
  const api = setUp();
  const created = await api.create(podResource, pod());
  expect(await api.patch(podResource, ref, { spec: { x: 1 } }, { kind: "merge" })).toEqual(created);
  expect(await api.replace(podResource, created)).toEqual(created);
});

test("holds an object that has finalizers until the last one is gone", async () => {
  const api = setUp();
  await api.create(podResource, { metadata: { ...ref, finalizers: ["f"] } });
  const leaving = await api.delete(podResource, ref);
  expect(leaving.metadata).toMatchObject({ deletionTimestamp: "2026-01-02T03:04:05Z", generation: 2 });
  expect(await api.delete(podResource, ref)).toEqual(leaving);
  const gone = await api.patch(podResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
  expect(gone.metadata.deletionTimestamp).toBeDefined();
  expect(isNotFound(await caught(api.get(podResource, ref)))).toBe(true);
});

test("applies JSON patches with their tests", async () => {
  const api = setUp();
  await api.create(podResource, pod({ spec: { list: ["a", "c"], "x/y": 1 } }));
  const patched = await api.patch(
    podResource,
    ref,
    [
      { op: "test", path: "/spec/list/0", value: "a" },
      { op: "add", path: "/spec/list/1", value: "b" },
      { op: "add", path: "/spec/list/-", value: "d" },
      { op: "replace", path: "/spec/x~1y", value: 2 },
      { op: "remove", path: "/spec/list/0" },
    ],
    { kind: "json" },
  );
  expect(patched["spec"]).toEqual({ list: ["b", "c", "d"], "x/y": 2 });
  for (const operation of [
    { op: "test", path: "/spec/list/0", value: "z" },
    { op: "remove", path: "/spec/missing" },
    { op: "replace", path: "/no/where", value: 1 },
  ]) {
    expect(isInvalid(await caught(api.patch(podResource, ref, [operation], { kind: "json" })))).toBe(true);
  }
});

test("adds finalizers by a strategic patch, and refuses one of other lists", async () => {
  const api = createFakeApi();
  api.seed(nodeResource, { metadata: { name: "a", labels: { own: "1" }, finalizers: ["theirs"] } });
  const patch = { metadata: { labels: { more: "2" }, finalizers: ["ours", "theirs"] } };
  const { metadata } = await api.patch(nodeResource, { name: "a" }, patch, { kind: "strategic" });
  expect(metadata).toMatchObject({ labels: { own: "1", more: "2" }, finalizers: ["theirs", "ours"] });
  const taints = { spec: { taints: [] } };
  await expect(api.patch(nodeResource, { name: "a" }, taints, { kind: "strategic" })).rejects.toThrow(
    "use the devcluster",
  );
});

test.each(["status", undefined] as const)(
  "takes finalizers off by a strategic patch of a node (%s)",
  async (subresource) => {
    const api = createFakeApi();
    api.seed(nodeResource, { metadata: { name: "a", finalizers: ["theirs", "ours"] }, status: {} });
    const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["ours"] }, status: { phase: "Terminated" } };
    const options = { kind: "strategic", ...(subresource === undefined ? {} : { subresource }) } as const;
    const { metadata, status } = await api.patch(nodeResource, { name: "a" }, patch, options);
    expect(metadata.finalizers).toEqual(["theirs"]);
    expect(status).toEqual(subresource === "status" ? { phase: "Terminated" } : {});
  },
);

test("lists by namespace, labels and fields", async () => {
  const api = setUp();
  api.seed(podResource, { metadata: { namespace: "n", name: "a", labels: { app: "x", tier: "web" } } });
  api.seed(podResource, { metadata: { namespace: "m", name: "b", labels: { app: "y" } } });
  const list = async (options: object) =>
    (await api.list(podResource, options)).items.map((object) => object.metadata.name);
  expect(await list({})).toEqual(["b", "a"]);
  expect(await list({ namespace: "n" })).toEqual(["a"]);
  expect(await list({ labelSelector: "app in (x, z),tier" })).toEqual(["a"]);
  expect(await list({ labelSelector: "app!=x" })).toEqual(["b"]);
  expect(await list({ labelSelector: "!tier,app notin (x)" })).toEqual(["b"]);
  expect(await list({ fieldSelector: "metadata.name=b" })).toEqual(["b"]);
});

test("lets a watch see every change once, in order, and fails with 410 when the history is compacted", async () => {
  const api = setUp();
  api.seed(nodeResource, { metadata: { name: "a" } });
  const stop = new AbortController();
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { type, object } of api.watch(nodeResource, { resourceVersion: "0" }, stop.signal)) {
      seen.push(`${type} ${object.metadata.name}`);
      if (type === "DELETED") return;
    }
  })();
  api.change(nodeResource, { name: "a" }, { spec: { unschedulable: true } });
  api.seed(podResource, { metadata: ref });
  await new Promise((resolve) => setImmediate(resolve));
  await api.delete(nodeResource, { name: "a" });
  await reading;
  expect(seen).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
  api.compact();
  const again = async () => {
    for await (const event of api.watch(nodeResource, { resourceVersion: "1" }, stop.signal)) return event;
    return undefined;
  };
  expect(isGone(await caught(again()))).toBe(true);
});

test("injects failures before or after the write", async () => {
  const api = setUp();
  api.inject({ verb: "create", error: serverError() });
  api.inject({ verb: "patch", key: "n/p", error: conflictError(), phase: "after" });
  expect(await caught(api.create(podResource, pod()))).toMatchObject({ status: 500 });
  expect(api.peek(podResource, ref)).toBeUndefined();
  await api.create(podResource, pod());
  expect(isConflict(await caught(api.patch(podResource, ref, { spec: { x: 9 } }, { kind: "merge" })))).toBe(true);
  expect(api.peek(podResource, ref)).toMatchObject({ spec: { x: 9 } });
  expect(api.writes().map(({ verb, key }) => `${verb} ${key}`)).toEqual(["create n/p", "create n/p", "patch n/p"]);
});

test("removes an evicted pod", async () => {
  const api = setUp();
  api.seed(podResource, { metadata: ref });
  await api.create(podResource, { metadata: ref }, { subresource: "eviction" });
  expect(api.all(podResource)).toEqual([]);
});
