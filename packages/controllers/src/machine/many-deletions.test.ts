import { machineResource } from "@millwright/core/machine-api";
import { nodeResource, podDisruptionBudgetResource, podResource } from "@millwright/kube";
import { notFoundError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { aPod } from "../testing/drain-objects.ts";
import { aFleet, fleetOf, MINUTE, nodeOf } from "../testing/machine-fleet.ts";
import { refOf } from "../testing/builders.ts";

/** This many running machines, with counters that start now. */
async function runningMachines(count: number) {
  const machines = fleetOf(count);
  const { api, reconciles, ...fleet } = await aFleet(machines);
  await fleet.clock.advance(1_000);
  api.calls.length = 0;
  const before = reconciles();
  const names = Object.keys(machines);
  const deleteAll = async (): Promise<void> => {
    for (const name of names) await api.delete(machineResource, refOf(name));
  };
  return { ...fleet, api, names, deleteAll, reconciles: () => reconciles() - before };
}

it("machines that are deleted at once are deleted within seconds, three hundred of them, with a bounded number of requests and reconciles each, and no read", async () => {
  const { api, clock, driver, deleteAll, reconciles } = await runningMachines(300);
  await deleteAll();
  await clock.advance(10_000);
  expect([api.all(machineResource), api.all(nodeResource), driver.vms.size]).toEqual([[], [], 0]);
  expect(api.calls.filter(({ verb }) => verb === "get")).toEqual([]);
  // With the deletion itself; see test/resilience/deletion-cost.test.ts.
  expect(api.writes().length / 300).toBeLessThanOrEqual(8);
  expect(reconciles() / 300).toBeLessThanOrEqual(10);
  expect(driver.calls).toHaveLength(300);
});

it("machines that are deleted at once overload neither a cloud that rejects nor the API server", async () => {
  const { api, clock, driver, deleteAll, reconciles } = await runningMachines(50);
  driver.fail("deleteVm", "Unavailable", 100_000);
  await deleteAll();
  await clock.advance(MINUTE);
  const [written, called, passed] = [api.writes().length, driver.calls.length, reconciles()];
  await clock.advance(MINUTE);
  // The same failure is retried every five seconds or so, as in MCM, and of these attempts only the 16th is reported.
  expect(api.writes().length - written).toBeLessThanOrEqual(50);
  expect((driver.calls.length - called) / 50).toBeLessThanOrEqual(20);
  expect((reconciles() - passed) / 50).toBeLessThanOrEqual(40);
  driver.faults.length = 0;
  await clock.advance(5 * MINUTE);
  expect(api.all(machineResource)).toEqual([]);
});

it("machines that are deleted at once are not enqueued by budgets of namespaces in which none of them has pods", async () => {
  const { api, clock, names, deleteAll, reconciles } = await runningMachines(50);
  for (const name of names.slice(0, 10))
    api.seed(podResource, { ...aPod(`pod-of-${name}`, { spec: { nodeName: nodeOf(name).name } }) });
  // Ten of them wait for their pods.
  api.inject({ verb: "create", subresource: "eviction", error: notFoundError(), times: 1_000 });
  await deleteAll();
  await clock.advance(5_000);
  expect(api.all(machineResource)).toHaveLength(10);
  const passed = reconciles();
  api.seed(podDisruptionBudgetResource, { metadata: { namespace: "elsewhere", name: "b" } });
  await clock.advance(10);
  expect(reconciles()).toBe(passed);
  api.seed(podDisruptionBudgetResource, { metadata: { namespace: "default", name: "b" } });
  await clock.advance(10);
  expect(reconciles() - passed).toBe(10);
});
