import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import type { Condition } from "@millwright/kube";
import { createStatusUpdateThrottle } from "./status-update-throttle.ts";

interface Status {
  readonly replicas: number;
  readonly ready?: number;
  readonly conditions: readonly Condition[];
}

const clock = createVirtualClock();
const make = () =>
  createStatusUpdateThrottle<Status>(clock, (status, change) => ({
    ...status,
    ready: 0,
    conditions: status.conditions.map(change),
  }));
const ready = (message: string, more: Partial<Condition> = {}): Status => ({
  replicas: 1,
  conditions: [{ type: "MachinesReady", status: "False", reason: "NotReady", message, ...more }],
});
const available: Condition = { type: "Available", status: "True", lastUpdateTime: "2026-01-01T00:00:00Z" };
const decide = (status: Status | undefined, requeueAfterMs?: number) => ({
  actions: [],
  because: [],
  ...(status === undefined ? {} : { status }),
  ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
});

it("lets a first text pass, holds the next one back for the rest of a second, and then lets it pass", async () => {
  const pace = make();
  expect(pace.hold("k", ready("a"), decide(ready("b")))).toEqual(decide(ready("b")));
  await clock.advance(400);
  expect(pace.hold("k", ready("b"), decide(ready("c")))).toEqual(decide(undefined, 600));
  expect(pace.hold("k", ready("b"), decide(ready("c"), 100))).toEqual(decide(undefined, 100));
  expect(pace.hold("other", ready("b"), decide(ready("c")))).toEqual(decide(ready("c")));
  await clock.advance(600);
  expect(pace.hold("k", ready("b"), decide(ready("c")))).toEqual(decide(ready("c")));
});

it.each<[string, Status]>([
  ["a status of a condition", ready("b", { status: "True" })],
  ["a generation", ready("b", { observedGeneration: 2 })],
  ["a number that others decide by", { ...ready("b"), replicas: 2 }],
  ["a word of MCM's conditions", { ...ready("b"), conditions: [{ type: "Available", status: "True", message: "x" }] }],
])("does not hold %s back", (_, after) => {
  const pace = make();
  pace.hold("k", ready("a"), decide(ready("b")));
  expect(pace.hold("k", ready("b"), decide(after))).toEqual(decide(after));
});

it.each<[string, Status]>([
  ["a number of machines", { ...ready("b"), ready: 2 }],
  [
    "the time of the last progress",
    { ...ready("b"), conditions: [{ ...available, lastUpdateTime: "2026-01-01T00:00:01Z" }] },
  ],
])("holds %s back", (_, after) => {
  const pace = make();
  const before = after.ready === undefined ? { ...after, conditions: [available] } : ready("b");
  pace.hold("k", ready("a"), decide(before));
  expect(pace.hold("k", before, decide(after))).toEqual(decide(undefined, 1_000));
});

it("passes on what writes nothing, the first status of all, and forgets objects that are gone", () => {
  const pace = make();
  expect(pace.hold("k", undefined, decide(ready("a")))).toEqual(decide(ready("a")));
  expect(pace.hold("k", ready("a"), decide(undefined))).toEqual(decide(undefined));
  expect(pace.hold("k", ready("a"), decide(ready("a")))).toEqual(decide(ready("a")));
  pace.hold("k", ready("a"), decide(ready("b")));
  pace.forget("k");
  expect(pace.hold("k", ready("b"), decide(ready("c")))).toEqual(decide(ready("c")));
});

it.each([
  ["a change", ready("b", { status: "True" }), 0],
  ["a text", ready("b"), 1_000],
])("holds back %s that another writer takes back again and again, after ten", async (_, ours, intervalMs) => {
  const pace = make();
  const theirs = ready("a");
  const write = async (): Promise<unknown> => {
    await clock.advance(intervalMs);
    return pace.hold("k", theirs, decide(ours));
  };
  let writes = 0;
  while (writes < 100 && "status" in ((await write()) as object)) writes++;
  expect(writes).toBeGreaterThanOrEqual(11);
  expect(writes).toBeLessThan(25);
  let more = 0;
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    if ("status" in pace.hold("k", theirs, decide(ours))) more++;
  }
  expect(more).toBe(12);
  await clock.advance(60_000);
  expect(await write()).toEqual(decide(ours));
});

it("does not hold back changes that follow on its own", () => {
  const pace = make();
  for (let round = 0; round < 30; round++) {
    const [before, after] = [ready("a", { reason: `R${round}` }), ready("a", { status: round % 2 ? "True" : "False" })];
    const from = round === 0 ? before : ready("a", { status: round % 2 ? "False" : "True" });
    expect(pace.hold("k", from, decide(after))).toEqual(decide(after));
  }
});
