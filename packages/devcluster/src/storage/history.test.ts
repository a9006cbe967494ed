import { expect, test } from "vitest";
import { createHistory } from "./history.ts";
import type { StoreEvent } from "./store-event.ts";

function event(resourceVersion: number, text = ""): StoreEvent {
  const metadata = { name: "a", uid: "u", creationTimestamp: "", resourceVersion: String(resourceVersion) };
  const object = { apiVersion: "v1", kind: "Thing", metadata, text };
  return { type: "ADDED", collection: "things.", key: "/a", object, previous: undefined, resourceVersion };
}

const versions = (events: readonly StoreEvent[]): readonly number[] => events.map((item) => item.resourceVersion);

test("replays what came after a version", () => {
  const history = createHistory(10, 1e6, 4);
  for (const version of [5, 7, 9]) history.add(event(version));
  expect(history.replayableFrom).toBe(4);
  expect(versions(history.since(4))).toEqual([5, 7, 9]);
  expect(versions(history.since(7))).toEqual([9]);
  expect(versions(history.since(9))).toEqual([]);
});

test("keeps its latest changes, and the first version that can be replayed", () => {
  const history = createHistory(8, 1e6, 0);
  for (let version = 1; version <= 1000; version += 1) history.add(event(version));
  const kept = history.since(history.replayableFrom);
  expect(kept.length).toBeGreaterThanOrEqual(8);
  expect(kept.length).toBeLessThanOrEqual(10);
  expect(versions(kept)).toEqual(Array.from({ length: kept.length }, (_, index) => history.replayableFrom + 1 + index));
  expect(versions(kept).at(-1)).toBe(1000);
});

test("keeps fewer changes when they are large, and always the latest", () => {
  const history = createHistory(1000, 10_000, 0);
  for (let version = 1; version <= 100; version += 1) history.add(event(version, "x".repeat(1000)));
  const kept = history.since(history.replayableFrom).length;
  expect(kept).toBeGreaterThan(5);
  expect(kept).toBeLessThan(13);
  history.add(event(101, "x".repeat(1_000_000)));
  expect(versions(history.since(history.replayableFrom))).toEqual([101]);
});
