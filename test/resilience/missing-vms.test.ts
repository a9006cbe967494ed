import type { Machine } from "@millwright/core/machine-api";
import { eventResource, nodeResource } from "@millwright/kube";
import { createMockDriver } from "@millwright/provider-mock";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type ManagedFleet, startManagedFleet } from "../harness/managed-fleet.ts";

const FLEET = 4;
let fleet: ManagedFleet;

afterEach(() => fleet.close());

const idsOf = (machines: readonly Machine[]): readonly string[] =>
  machines.map(({ spec }) => spec.providerID ?? "").toSorted();
const reasons = async (): Promise<readonly unknown[]> =>
  (await fleet.api.list(eventResource, { namespace: "default" })).items.map(({ reason }) => reason);

it("replaces a machine whose VM was deleted in the cloud, although its Node stays Ready", async () => {
  fleet = await startManagedFleet(FLEET);
  await fleet.manage({ settings: { healthTimeoutMs: 1_500 } });
  await fleet.untilRunning(FLEET);
  const [lost] = fleet.cloud.vms();
  if (lost === undefined) throw new Error("there is no VM");
  await fleet.cloud.deleteVm(lost.id);
  await eventually(async () => expect(await reasons()).toContain("VMMissing"), 60_000);
  const node = await fleet.api.get(nodeResource, { name: lost.nodeName });
  expect(JSON.stringify(node["status"])).toMatch(/"type":"Ready","status":"True"|"status":"True","type":"Ready"/);
  await eventually(async () => {
    const ids = idsOf(await fleet.machines());
    expect(ids).toHaveLength(FLEET);
    expect(ids).not.toContain(lost.providerId);
  }, 60_000);
  await fleet.untilRunning(FLEET);
  expect(await reasons()).toEqual(expect.arrayContaining(["VMMissing", "HealthTimedOut"]));
});

it("keeps a machine whose VM is not listed, but found", async () => {
  fleet = await startManagedFleet(FLEET);
  const driver = createMockDriver();
  let lists = 0;
  const found: string[] = [];
  const { capabilities } = driver;
  const incomplete: typeof driver = {
    ...driver,
    capabilities,
    getMachineStatus: async (request, context) => {
      const vm = await driver.getMachineStatus(request, context);
      found.push(vm.providerId);
      return vm;
    },
    listMachines: async (request, context) => {
      lists++;
      const { machines = [] } = (await driver.listMachines?.(request, context)) ?? {};
      return { machines: machines.toSorted((a, b) => (a.machineName < b.machineName ? -1 : 1)).slice(1) };
    },
  };
  await fleet.manage({ drivers: [incomplete], settings: { healthTimeoutMs: 1_500 } });
  await fleet.untilRunning(FLEET);
  const ids = idsOf(await fleet.machines());
  const nodes = (await fleet.machines()).map(({ metadata }) => metadata.labels?.["node"] ?? "");
  fleet.server.clusterFaults.add({ kind: "kubelet-stops", nodes });
  const before = { lists, found: found.length };
  await eventually(async () => expect(lists).toBeGreaterThan(before.lists + 8), 60_000);
  expect(found.length).toBeGreaterThan(before.found);
  expect(idsOf(await fleet.machines())).toEqual(ids);
  await fleet.untilRunning(FLEET);
  expect(await reasons()).not.toContain("VMMissing");
});
