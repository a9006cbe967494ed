import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PreparedObject } from "../objects/stored-object.ts";
import { openFileStorage } from "./file-storage.ts";
import { createObjectStore, type ObjectStore } from "./object-store.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "devcluster-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function object(name: string, value = ""): PreparedObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" },
    data: { value },
  };
}

function open(): ObjectStore {
  return createObjectStore({ journal: openFileStorage(directory) });
}

/** The log of a killed process: not closed, and without its lock. */
function abandon(): void {
  rmSync(join(directory, "lock"), { force: true });
}

test("keeps objects and the version over a kill", () => {
  const first = open();
  first.put("configmaps.", object("a", "1"));
  first.put("configmaps.", object("a", "2"));
  first.put("configmaps.", object("b"));
  first.remove("configmaps.", "default", "b");
  abandon();
  const second = open();
  expect(second.get("configmaps.", "default", "a")).toEqual(first.get("configmaps.", "default", "a"));
  expect(second.get("configmaps.", "default", "b")).toBeUndefined();
  expect(second.resourceVersion).toBe(first.resourceVersion);
  expect(() => second.since("configmaps.", 2)).toThrow("too old resource version");
  second.close();
});

test("cuts off a torn last line with a warning and goes on", () => {
  const first = open();
  first.put("configmaps.", object("a"));
  abandon();
  appendFileSync(join(directory, "objects.jsonl"), '{"rv":99,"c":"configmaps.","k":"default/x","o":{"apiVer');
  const warnings: string[] = [];
  const storage = openFileStorage(directory, { log: (_level, message) => warnings.push(message) });
  const second = createObjectStore({ journal: storage });
  expect(warnings).toEqual(["storage: removed the torn last line"]);
  second.put("configmaps.", object("b"));
  second.close();
  const third = open();
  expect(third.list("configmaps.").map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  third.close();
});

test("rewrites a log that has grown without losing anything", () => {
  const store = open();
  const big = "x".repeat(256 * 1024);
  for (let count = 0; count < 60; count += 1) store.put("configmaps.", object("a", `${count}${big}`));
  const text = readFileSync(join(directory, "objects.jsonl"), "utf8");
  expect(text.length).toBeLessThan(12 * 1024 * 1024);
  store.close();
  const again = open();
  expect(again.get("configmaps.", "default", "a")).toMatchObject({ data: { value: `59${big}` } });
  expect(again.resourceVersion).toBe(61);
  again.close();
});

test("rejects a directory that is in use, foreign or damaged, with a remedy", () => {
  const store = open();
  store.put("configmaps.", object("a"));
  expect(() => openFileStorage(directory)).toThrow(`in use by process ${process.pid}`);
  store.close();
  const path = join(directory, "objects.jsonl");
  const good = readFileSync(path, "utf8");
  writeFileSync(path, good.replace('"k":', "k:"));
  expect(() => open()).toThrow("line 2 is damaged");
  writeFileSync(path, '{"format":"else"}\n');
  expect(() => open()).toThrow("choose another directory");
});

test("takes over the lock of a process whose ID another one has now", () => {
  writeFileSync(join(directory, "lock"), `${process.ppid} 1`);
  const store = open();
  expect(store.list("configmaps.")).toEqual([]);
  store.close();
});

test("takes over the lock of a process that has ended", () => {
  writeFileSync(join(directory, "lock"), "999999999");
  const store = open();
  expect(readFileSync(join(directory, "lock"), "utf8")).toMatch(new RegExp(`^${process.pid} `));
  store.close();
});
