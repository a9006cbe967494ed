import { systemClock } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import type { KubeObject } from "./objects/kube-object.ts";
import { createSlices, createTurnSlices } from "./slices.ts";
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

test("in slices of turns, pauses all callers until the next turn when its time is over", async () => {
  const clock = createVirtualClock();
  let nowMs = 0;
  const slices = createTurnSlices({ clock: { ...clock, monotonicMs: () => nowMs }, sliceMs: 5 });
  expect(slices.pauseIfDue()).toBeUndefined();
  nowMs = 4;
  expect(slices.pauseIfDue()).toBeUndefined();
  nowMs = 5;
  const [first, second] = [slices.pauseIfDue(), slices.pauseIfDue()];
  expect(first).toBeInstanceOf(Promise);
  expect(second).toBe(first);
  await first;
  expect(slices.pauseIfDue()).toBeUndefined();
});

test("in slices of turns, time that passes between turns does not count", async () => {
  const clock = createVirtualClock();
  const slices = createTurnSlices({ clock });
  expect(slices.pauseIfDue()).toBeUndefined();
  await clock.advance(60_000);
  expect(slices.pauseIfDue()).toBeUndefined();
});
