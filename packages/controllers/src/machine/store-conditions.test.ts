import {
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  type MachineStatus,
} from "@millwright/core/machine-api";
import type { Controller } from "@millwright/kube";
import { expect, onTestFinished, test } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  inPhase,
  ownedBy,
  refOf,
  testNamespace,
} from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { aSnapshot, testNow, withVm, type SnapshotChange } from "../testing/snapshots.ts";
import { statusWithConditions, wireUpToDate } from "./store-conditions.ts";

const machine = aMachine(withVm, inPhase("Running"));
const decided: MachineStatus = { ...machine.status, lastKnownState: "changed" };

/** The status of the machine with its conditions, while the cache holds `cached`. */
async function statusOver(cached: typeof machine, change: SnapshotChange = {}) {
  const { api, newContext, run } = createTestCluster();
  api.seed(machineResource, cached);
  const context = newContext();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  return statusWithConditions(context, { ...aSnapshot({ machine }), ...change }, decided, testNow);
}

test("a written status has the conditions of the machine", async () => {
  expect(await statusOver(machine)).toMatchObject({
    lastKnownState: "changed",
    conditions: expect.arrayContaining([expect.objectContaining({ type: "MachineReady" })]),
  });
});

test("no conditions are computed from another machine of that name", async () => {
  expect(await statusOver(aMachine(withVm, { metadata: { uid: "another" } }))).toBe(decided);
});

test("no conditions are computed from a machine that cannot be read", async () => {
  expect(await statusOver(machine, { isReadable: false })).toBe(decided);
});

test.each([
  ["set", machineSetResource],
  ["deployment", machineDeploymentResource],
])("a change of the template of the %s enqueues the machine, and a change of its size does not", async (_, type) => {
  const { api, clock, newContext, run } = createTestCluster();
  const deployment = aMachineDeployment();
  const set = aMachineSet(ownedBy(deployment));
  api.seed(machineDeploymentResource, deployment);
  api.seed(machineSetResource, set);
  api.seed(machineResource, aMachine(ownedBy(set)));
  const context = newContext();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  const enqueued = new Set<string>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of it is not used
  wireUpToDate(context.caches, { enqueue: (key) => void enqueued.add(key) } as Controller);
  await clock.advance(10);
  enqueued.clear();
  const { name } = (type === machineSetResource ? set : deployment).metadata;
  api.change(type, refOf(name), { spec: { replicas: 7 } });
  await clock.advance(10);
  expect([...enqueued]).toEqual([]);
  api.change(type, refOf(name), { spec: { template: { spec: { class: { name: "other" } } } } });
  await clock.advance(10);
  expect([...enqueued]).toEqual([`${testNamespace}/machine`]);
});
