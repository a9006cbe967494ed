import { type Machine, machineResource, machineSetResource, type MachineSet } from "@millwright/core/machine-api";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { aMachine, aMachineSet, named, ownedBy, refOf } from "../testing/builders.ts";
import { createTestCluster, type TestCluster } from "../testing/cluster.ts";
import { trackLostMachines } from "./lost-machines.ts";

let cluster: TestCluster;
let stop: AbortController;
beforeEach(() => {
  cluster = createTestCluster();
  stop = new AbortController();
});
afterEach(() => stop.abort(new Error("the test is over")));

const namesOf = (machines: readonly Machine[]): readonly string[] =>
  machines.map(({ metadata }) => metadata.name).toSorted();

/** Follows the machines of a set that exists, and of one that does not; counts machines read from the cache. */
async function start(count: number) {
  const { api, clock, newContext, run } = cluster;
  const set: MachineSet = aMachineSet(named("present"));
  const former: MachineSet = aMachineSet(named("former"));
  for (let index = 0; index < count; index++) {
    api.seed(machineResource, aMachine(named(`m-${index}`), ownedBy(set)));
    api.seed(machineResource, aMachine(named(`lost-${index}`), ownedBy(former)));
  }
  api.seed(machineSetResource, set);
  const context = newContext();
  const { store } = context.caches.machines;
  let reads = 0;
  const byIndex = store.byIndex.bind(store);
  vi.spyOn(store, "byIndex").mockImplementation((index, value) => {
    const found = byIndex(index, value);
    reads += found.length;
    return found;
  });
  const lost = trackLostMachines(context);
  await run(context, stop.signal);
  await clock.advance(100);
  return { lost, reads: () => reads };
}

it("reads no machine of a set for the events of machines, nor for those of a set that stays", async () => {
  const { api, clock } = cluster;
  const { lost, reads } = await start(50);
  for (let index = 0; index < 50; index++) {
    for (const name of [`m-${index}`, `lost-${index}`])
      api.change(machineResource, refOf(name), { status: { node: `node-${index}` } });
    api.change(machineSetResource, refOf("present"), { spec: { replicas: index } });
    await clock.advance(10);
  }
  expect(reads()).toBe(0);
  expect(lost.list()).toHaveLength(50);
});

it("lists the machines of sets that do not exist, until they are gone or the set is found", async () => {
  const { api, clock } = cluster;
  const { lost } = await start(2);
  const reported: string[] = [];
  lost.onLost(({ metadata }) => void reported.push(metadata.name));
  expect(namesOf(lost.list())).toEqual(["lost-0", "lost-1"]);
  for (const name of ["lost-0", "lost-1"]) api.remove(machineResource, refOf(name));
  await clock.advance(100);
  expect(lost.list()).toEqual([]);
  api.remove(machineSetResource, refOf("present"));
  await clock.advance(100);
  expect(reported.toSorted()).toEqual(["m-0", "m-1"]);
  expect(namesOf(lost.list())).toEqual(["m-0", "m-1"]);
});
