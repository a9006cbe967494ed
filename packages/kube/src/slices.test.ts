import { systemClock } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import type { KubeObject } from "./objects/kube-object.ts";
import { createSlices } from "./slices.ts";
import { createStore } from "./cache/store.ts";

const object = (index: number, version: number): KubeObject => ({
  metadata: {
    name: `n${index}`,
    uid: `u${index}`,
    resourceVersion: String(version),
    labels: { zone: `z${index % 3}` },
  },
});

test("lets the event loop run between slices while a list of 20,000 objects is taken over", async () => {
  const store = createStore({ indexes: { zone: ({ metadata }: KubeObject) => metadata.labels?.["zone"] } });
  const replacement = store.beginReplacement();
  for (let index = 0; index < 20_000; index++) replacement.add(object(index, index + 1));
  let turns = 0;
  let isOver = false;
  const watchLoop = () => {
    turns++;
    if (!isOver) setImmediate(watchLoop);
  };
  setImmediate(watchLoop);
  const startedMs = systemClock.monotonicMs();
  await replacement.finish("20000", { clock: systemClock, sliceMs: 2 });
  const tookMs = systemClock.monotonicMs() - startedMs;
  isOver = true;
  expect(store.size).toBe(20_000);
  // Each slice is 2 ms and at most 16 steps longer; a machine that is busy elsewhere makes fewer of them.
  expect(turns).toBeGreaterThan(Math.min(3, tookMs / 10));
});

test("goes on at once, without a pause, while the slice lasts", () => {
  const slices = createSlices({ clock: createVirtualClock() });
  for (let step = 0; step < 1_000; step++) expect(slices.pauseIfDue()).toBeUndefined();
});

test("stops between two slices when its signal aborts", async () => {
  const stop = new AbortController();
  const store = createStore();
  const replacement = store.beginReplacement();
  for (let index = 0; index < 1_000; index++) replacement.add(object(index, index + 1));
  const finished = replacement.finish("1000", { clock: systemClock, sliceMs: 0, signal: stop.signal });
  stop.abort(new Error("stopping"));
  await expect(finished).rejects.toThrow("stopping");
  expect(store.size).toBeLessThan(1_000);
});

test("keeps an own write that comes between two slices, and reports additions before removals", async () => {
  const store = createStore();
  for (let index = 0; index < 200; index++) store.applyEvent(object(index, index + 1));
  const replacement = store.beginReplacement();
  for (let index = 100; index < 400; index++) replacement.add(object(index, index + 301));
  const order: string[] = [];
  store.subscribe(
    (old, current) => order.push(current === undefined ? "gone" : old === undefined ? "new" : "changed"),
    {
      replay: false,
    },
  );
  const finished = replacement.finish("800", { clock: systemClock, sliceMs: 0 });
  store.applyWrite(object(399, 900));
  store.applyWrite(object(1_000, 901));
  store.applyDelete({ name: "n398", uid: "u398" });
  await finished;
  expect(store.get("n399")?.metadata.resourceVersion).toBe("900");
  expect(store.get("n1000")?.metadata.resourceVersion).toBe("901");
  expect(store.get("n398")).toBeUndefined();
  expect(store.size).toBe(300);
  expect(order.lastIndexOf("new")).toBeLessThan(order.indexOf("gone"));
  expect(order.filter((each) => each === "gone")).toHaveLength(100);
});
