import { machineResource } from "@millwright/core/machine-api";
import { expect, it, vi } from "vitest";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { aMachine, inPhase, labeled, named, refOf } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createRemediationWatch } from "./remediation-watch.ts";
import { fixed } from "../model/live.ts";

/** How many machines are read from the cache while so many of one deployment join, one after another. */
async function readsWhile(joining: number): Promise<{ readonly reads: number; readonly enqueued: readonly string[] }> {
  const { api, clock, newContext, run } = createTestCluster();
  const names = Array.from({ length: joining }, (_, index) => `m-${index}`);
  const pool = labeled({ name: "pool" });
  for (const name of names) api.seed(machineResource, aMachine(named(name), pool, inPhase("Pending")));
  api.seed(machineResource, aMachine(named("unhealthy"), pool, inPhase("Unknown")));
  const context = newContext();
  const enqueued: string[] = [];
  createRemediationWatch(context, fixed(defaultMachineSettings), { enqueue: (key) => void enqueued.push(key) });
  const stop = new AbortController();
  await run(context, stop.signal);
  await clock.advance(100);
  enqueued.length = 0;
  const { store } = context.caches.machines;
  let reads = 0;
  const byIndex = store.byIndex.bind(store);
  vi.spyOn(store, "byIndex").mockImplementation((index, value) => {
    const found = byIndex(index, value);
    reads += found.length;
    return found;
  });
  for (const name of names) {
    api.change(machineResource, refOf(name), { ...inPhase("Running") });
    await clock.advance(1);
  }
  stop.abort();
  return { reads, enqueued };
}

it("enqueues the unhealthy machines of a deployment when one of its machines has joined, and reads no healthy ones for that", async () => {
  const few = await readsWhile(4);
  const many = await readsWhile(40);
  expect(new Set(many.enqueued)).toEqual(new Set([`${refOf("unhealthy").namespace}/unhealthy`]));
  // Twice for each: for its former state, and for the present one.
  expect([few.reads, many.reads]).toEqual([2 * 4, 2 * 40]);
});
