import { seededRandom } from "@millwright/base";
import { MachineError } from "@millwright/core";
import {
  annotationKeys,
  labelKeys,
  machineResource,
  machineSetResource,
  preserveValues,
  updateResults,
} from "@millwright/core/machine-api";
import { type ApiObject, nodeResource, podResource } from "@millwright/kube";
import { tooManyRequestsError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createManager, type Manager } from "../manager/manager.ts";
import { aDriver } from "../testing/fake-driver.ts";
import { aCloud, aLeadership, aManager, aSet, aStop, namespace } from "../testing/managed.ts";
import { samplesIn } from "../testing/metric-lines.ts";

/** What was counted of the pool: how many steps ended, how many joins failed, how many were stale; what is not there is 0. */
async function countsOf(manager: Manager) {
  const lines = samplesIn(await manager.metrics());
  const valueOf = (start: string): number =>
    Number(lines.find((line) => line.startsWith(start))?.replace(/^.* /, "") ?? 0);
  const pool = `namespace="${namespace}",machine_deployment="pool"`;
  const took = (step: string): number =>
    valueOf(`millwright_machine_step_duration_seconds_count{${pool},step="${step}"}`);
  return {
    create: took("create"),
    join: took("join"),
    drain: took("drain"),
    delete: took("delete"),
    failedJoins: valueOf(`mcm_machine_num_failed_join{${pool}`),
    stale: valueOf("mcm_machine_stale_machines_total"),
  };
}
const none = { create: 0, join: 0, drain: 0, delete: 0, failedJoins: 0, stale: 0 };

/** The set `pool` of one machine, and what may happen to it. */
async function aPool(driver = aCloud().driver) {
  const world = aManager(driver);
  const { api, clock, manager, stop, machines } = world;
  void manager.start(stop.signal);
  await manager.ready(stop.signal);
  api.seed(machineSetResource, aSet(1));
  await clock.advance(2_000);
  const name = machines()[0]?.metadata.name ?? "";
  const ref = { namespace, name };
  const ready = (status: string) => ({ status: { conditions: [{ type: "Ready", status }] } });
  return {
    ...world,
    name,
    counts: () => countsOf(manager),
    change: (patch: object) => api.change(machineResource, ref, patch),
    remove: () => api.delete(machineResource, ref),
    comesUp: async () => {
      api.seed(nodeResource, { metadata: { name }, ...ready("True") });
      await clock.advance(5_000);
    },
    recovers: async () => {
      api.change(nodeResource, { name }, ready("True"));
      await clock.advance(5_000);
    },
    fallsIll: () => api.change(nodeResource, { name }, ready("False")),
    /** No other machine comes in its place any more. */
    shrink: () => api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 0 } }),
  };
}

describe("lives of machines are counted truly", () => {
  it("when what was created joins, and is deleted with its set", async () => {
    const { clock, counts, comesUp, shrink } = await aPool();
    expect(await counts()).toEqual({ ...none, create: 1 });
    await comesUp();
    expect(await counts()).toEqual({ ...none, create: 1, join: 1 });
    shrink();
    await clock.advance(10_000);
    expect(await counts()).toEqual({ ...none, create: 1, join: 1, drain: 1, delete: 1 });
  });

  it("when a creation fails and comes again", async () => {
    const { driver } = aCloud();
    let failures = 2;
    const moody = aDriver({
      ...driver,
      createMachine: async (request, context) => {
        if (failures-- > 0) throw new MachineError("Unavailable", "come back later");
        return driver.createMachine(request, context);
      },
    });
    const { clock, counts, comesUp } = await aPool(moody);
    await clock.advance(5 * 60_000);
    expect([failures, await counts()]).toEqual([-1, { ...none, create: 1 }]);
    await comesUp();
    expect(await counts()).toEqual({ ...none, create: 1, join: 1 });
  });

  it("when no creation succeeds in time, which is no failed join", async () => {
    const broken = aDriver({ createMachine: () => Promise.reject(new MachineError("Unavailable", "no")) });
    const { clock, counts } = await aPool(broken);
    await clock.advance(25 * 60_000);
    expect(await counts()).toMatchObject({ create: 0, failedJoins: 0, stale: 0 });
  });

  it("when one process makes the VM and the next one adopts it", async () => {
    const { driver } = aCloud();
    const hanging = aDriver({
      ...driver,
      createMachine: async (request, context) => {
        await driver.createMachine(request, context);
        return new Promise<never>(() => {});
      },
    });
    const { api, clock, stop, counts, comesUp } = await aPool(hanging);
    stop.abort(new Error("killed"));
    expect(await counts()).toEqual(none);
    const options = { control: api, target: api, namespace, drivers: [driver], clock, random: seededRandom(3) };
    const next = createManager(options);
    void next.start(aStop().signal);
    await clock.advance(5_000);
    expect(await countsOf(next)).toEqual({ ...none, create: 1 });
    await comesUp();
    expect(await countsOf(next)).toEqual({ ...none, create: 1, join: 1 });
    const third = createManager({ ...options, random: seededRandom(4) });
    void third.start(aStop().signal);
    await clock.advance(5_000);
    expect(await countsOf(third)).toEqual(none);
  });

  it("when a machine is deleted before it has a VM", async () => {
    const broken = aDriver({ createMachine: () => Promise.reject(new MachineError("Unavailable", "no")) });
    const { clock, counts, remove, shrink } = await aPool(broken);
    shrink();
    await remove().catch(() => undefined);
    // A VM that was requested just before the deletion may not be visible yet.
    await clock.advance(180_000);
    expect(await counts()).toEqual({ ...none, delete: 1 });
  });

  it("when a machine does not join in time and another one takes its place", async () => {
    const { clock, counts } = await aPool();
    await clock.advance(20 * 60_000 + 60_000);
    expect(await counts()).toEqual({ ...none, create: 2, delete: 1, failedJoins: 1 });
  });

  it("when a machine falls ill and comes back, which is no second join", async () => {
    const { clock, counts, comesUp, fallsIll, recovers } = await aPool();
    await comesUp();
    fallsIll();
    await clock.advance(5 * 60_000);
    await recovers();
    await clock.advance(60 * 60_000);
    expect(await counts()).toEqual({ ...none, create: 1, join: 1 });
  });

  it("when a machine stays ill and is replaced", async () => {
    const { clock, counts, comesUp, fallsIll } = await aPool();
    await comesUp();
    fallsIll();
    await clock.advance(15 * 60_000);
    expect(await counts()).toEqual({ ...none, create: 2, join: 1, drain: 1, delete: 1, stale: 1 });
  });

  it("when a machine is updated in place, which is no second join and no drain before a deletion", async () => {
    const { api, clock, counts, comesUp, name, phases } = await aPool();
    await comesUp();
    const label = async (labels: Readonly<Record<string, string>>): Promise<void> => {
      api.change(nodeResource, { name }, { metadata: { labels } });
      await clock.advance(60_000);
    };
    await label({ [labelKeys.candidateForUpdate]: "true", [labelKeys.selectedForUpdate]: "true" });
    expect(phases()).toEqual(["InPlaceUpdating"]);
    await label({ [labelKeys.updateResult]: updateResults.successful });
    expect([phases(), await counts()]).toEqual([["Running"], { ...none, create: 1, join: 1 }]);
  });

  it("when an update in place fails, and the machine is replaced for it", async () => {
    const { api, clock, counts, comesUp, name } = await aPool();
    await comesUp();
    const selected = { [labelKeys.candidateForUpdate]: "true", [labelKeys.selectedForUpdate]: "true" };
    api.change(nodeResource, { name }, { metadata: { labels: selected } });
    await clock.advance(60_000);
    api.change(nodeResource, { name }, { metadata: { labels: { [labelKeys.updateResult]: updateResults.failed } } });
    await clock.advance(30 * 60_000);
    // Its last operation was the update: MCM does not count it as stale, either.
    expect(await counts()).toEqual({ ...none, create: 2, join: 1, drain: 1, delete: 1, stale: 0 });
  });

  it("when a Failed machine is preserved, and deleted by a user in the end", async () => {
    const { clock, counts, change, comesUp, fallsIll, phases, remove } = await aPool();
    change({ metadata: { annotations: { [annotationKeys.preserve]: preserveValues.whenFailed } } });
    await comesUp();
    fallsIll();
    await clock.advance(60 * 60_000);
    expect([phases()[0], (await counts()).stale]).toEqual(["Failed", 0]);
    await remove();
    await clock.advance(60_000);
    expect(await counts()).toMatchObject({ join: 1, drain: 1, delete: 1, stale: 1 });
  });

  it("when a preserved machine recovers", async () => {
    const { clock, counts, change, comesUp, fallsIll, phases, recovers } = await aPool();
    change({ metadata: { annotations: { [annotationKeys.preserve]: preserveValues.whenFailed } } });
    await comesUp();
    fallsIll();
    await clock.advance(15 * 60_000);
    expect(phases()[0]).toBe("Failed");
    await recovers();
    await clock.advance(60 * 60_000);
    expect([phases(), await counts()]).toEqual([["Running"], { ...none, create: 1, join: 1 }]);
  });

  it.each([
    ["its drain timeout", { spec: { drainTimeout: "10m" } }, 600],
    ["the force of a person", { metadata: { labels: { [labelKeys.forceDeletion]: "True" } } }, 0],
  ])("when a drain ends by %s", async (_, patch, atLeast) => {
    const { api, clock, counts, manager, change, comesUp, name, shrink } = await aPool();
    await comesUp();
    change(patch);
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true };
    const metadata = { namespace: "default", name: "web-1", ownerReferences: [owner] };
    const pod = { metadata, spec: { nodeName: name, containers: [] }, status: { phase: "Running" } };
    api.seed<ApiObject>(podResource, pod);
    api.inject({ verb: "create", type: podResource, error: tooManyRequestsError({ budget: "web" }), times: 100_000 });
    shrink();
    await clock.advance(30 * 60_000);
    expect(await counts()).toMatchObject({ drain: 1, delete: 1 });
    const [seconds] = samplesIn(await manager.metrics()).flatMap(
      (line) => /^mcm_machine_drain_duration_seconds\{.*\} (\d+)$/.exec(line)?.[1] ?? [],
    );
    expect(Number(seconds)).toBeGreaterThanOrEqual(atLeast);
    expect(Number(seconds)).toBeLessThan(atLeast + 120);
  });
});

it("a manager that does not lead any more shows nothing of objects, and those of one process do not meet", async () => {
  const { leadership, give, take } = aLeadership();
  const { api, clock, manager, stop } = aManager(aCloud().driver, { leadership });
  const other = createManager({
    control: api,
    namespace: "other",
    drivers: [aCloud().driver],
    clock,
    random: seededRandom(2),
  });
  void other.start(aStop().signal);
  const ended = manager.start(stop.signal).catch((error: unknown) => error);
  give();
  api.seed(machineSetResource, aSet(1));
  await clock.advance(5_000);
  // Operations are those of the process: none is left when it does not lead.
  const isFleet = /^(?:mcm_machine|millwright_(?!cache_|api_|driver_|machine_operations))/;
  const fleetOf = async (of: Manager) => samplesIn(await of.metrics()).filter((line) => isFleet.test(line));
  expect(await fleetOf(manager)).toContain("mcm_machine_items_total 1");
  expect(await fleetOf(other)).toContain("mcm_machine_items_total 0");
  take();
  await clock.advance(5_000);
  await ended;
  expect(await fleetOf(manager)).toEqual([]);
  expect(await fleetOf(other)).toContain("mcm_machine_items_total 0");
});
