import { beforeEach, expect, test } from "vitest";
import { at, objectAt } from "../json/json.ts";
import { startServer, type TestServer, versionOf } from "../testing/start-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const merge = { "content-type": "application/merge-patch+json" };
let api: TestServer;

beforeEach(async () => {
  api = await startServer({ historyLimit: 8 });
});

test("replays the changes after a version and then continues live", async () => {
  const { body } = await api.call("GET", configMaps);
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  const watch = api.watch(`${configMaps}?watch=1&resourceVersion=${versionOf(body)}`);
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { kind: "ConfigMap", metadata: { name: "a" } } });
  await api.call("PATCH", `${configMaps}/a`, { data: { k: "1" } }, merge);
  expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "1" } } });
  await api.call("DELETE", `${configMaps}/a`);
  const deleted = await watch.next();
  expect(deleted).toMatchObject({ type: "DELETED", object: { data: { k: "1" } } });
  watch.close();
});

test("begins with the existing objects when no version is given", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  const watch = api.watch(`${configMaps}?watch=true`);
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
  watch.close();
});

test("marks the end of the initial events with a bookmark", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const watch = api.watch(`${configMaps}?${query}`);
  expect(await watch.next()).toMatchObject({ type: "ADDED" });
  expect(await watch.next()).toMatchObject({
    type: "BOOKMARK",
    object: { kind: "ConfigMap", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
  });
  watch.close();
});

test("sends ADDED for an object that begins to match, DELETED for one that no longer matches", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  const { body } = await api.call("GET", configMaps);
  const watch = api.watch(`${configMaps}?watch=1&labelSelector=on&resourceVersion=${versionOf(body)}`);
  await api.call("PATCH", `${configMaps}/a`, { metadata: { labels: { on: "1" } } }, merge);
  expect(await watch.next()).toMatchObject({ type: "ADDED" });
  const { body: off } = await api.call("PATCH", `${configMaps}/a`, { metadata: { labels: { on: null } } }, merge);
  const deleted = await watch.next();
  expect(deleted).toMatchObject({ type: "DELETED", object: { metadata: { labels: { on: "1" } } } });
  expect(at(deleted, "object", "metadata", "resourceVersion")).toBe(versionOf(off));
  watch.close();
});

test("answers a compacted version with 410 in the stream", async () => {
  for (let count = 0; count < 30; count += 1) await api.call("POST", configMaps, { metadata: { generateName: "a-" } });
  const watch = api.watch(`${configMaps}?watch=1&resourceVersion=2`);
  expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  expect(await watch.next()).toBeUndefined();
});

test("ends at its timeout and when the server closes", async () => {
  const short = api.watch(`${configMaps}?watch=1&timeoutSeconds=1`);
  expect(await short.next()).toBeUndefined();
  const long = api.watch(`${configMaps}?watch=1`);
  const end = long.next();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await api.server.close();
  await expect(end.catch(() => undefined)).resolves.toBeUndefined();
});

test("escapes line separators that would split the stream of some clients", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" }, data: { k: "x\u2028y" } });
  const response = await fetch(`${api.url}${configMaps}/a`);
  const text = await response.text();
  expect(text).toContain(String.raw`x\u2028y`);
});

test("sends rows to clients that ask for tables, with columns in the first event only", async () => {
  const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
  const watch = api.watch(`${configMaps}?watch=1`, table);
  await api.call("POST", configMaps, { metadata: { name: "a" }, data: { k: "1" } });
  await api.call("POST", configMaps, { metadata: { name: "b" } });
  const first = await watch.next();
  expect(objectAt(first, "object")).toMatchObject({ kind: "Table", rows: [{ cells: ["a", 1, expect.any(String)] }] });
  expect(objectAt(first, "object")["columnDefinitions"]).toHaveLength(3);
  const second = await watch.next();
  expect(objectAt(second, "object")).toMatchObject({
    columnDefinitions: null,
    rows: [{ cells: ["b", 0, expect.any(String)] }],
  });
  watch.close();
});

test("sends bookmarks at the interval of its options", async () => {
  const server = await startServer({ bookmarkEveryMs: 10 });
  const watch = server.watch(`${configMaps}?watch=true&resourceVersion=0&allowWatchBookmarks=true`);
  expect(await watch.next()).toMatchObject({ type: "BOOKMARK" });
  watch.close();
});

test("sends a bookmark two seconds before the end of a watch", async () => {
  const server = await startServer({ bookmarkEveryMs: 60_000 });
  const watch = server.watch(`${configMaps}?watch=true&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=3`);
  expect(await watch.next()).toMatchObject({ type: "BOOKMARK" });
  expect(await watch.next()).toBeUndefined();
});
