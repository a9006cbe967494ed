import { machineDeploymentResource, machineSetResource, type MachineDeployment } from "@millwright/core/machine-api";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { applyFleet, exportFleet, loseFleet, restoreOrders } from "../harness/restored-fleet.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";

/** A fleet whose objects were lost, and are created again from an export as it is: the owners in it are those of former objects. */
describe("a fleet that is restored from a raw export", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  const writes = (): number =>
    fleet.requests().filter(({ verb, resource }) => !["watch", "list", "get"].includes(verb) && resource !== "leases")
      .length;
  const vms = (): readonly string[] => fleet.cloud.vms().map(({ id }) => id);

  /** Its VMs before the restore. */
  async function restore(
    count: number,
    order: keyof typeof restoreOrders,
    { keepsStatus = false, isStopped = false, collectsGarbage = true, pauseMs = 0 },
  ): Promise<readonly string[]> {
    fleet = await startControlledFleet();
    if (!collectsGarbage) fleet.server.clusterFaults.add({ kind: "garbage-collector-stops" });
    const process = fleet.run();
    await fleet.deploy(count);
    await fleet.untilRunning(count);
    const before = vms();
    const exported = await exportFleet(fleet.api);
    if (isStopped) await process.stop();
    await loseFleet(fleet.api);
    await applyFleet(fleet.api, exported, restoreOrders[order], { keepsStatus, pauseMs });
    if (isStopped) fleet.run();
    return before;
  }
  const expectKept = (before: readonly string[]): void => {
    expect(vms()).toEqual(before);
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([before.length, 0]);
  };

  const orders = Object.keys(restoreOrders) as readonly (keyof typeof restoreOrders)[];
  const cases = orders.flatMap((order) =>
    [6, 14].flatMap((count) => [false, true].map((keepsStatus) => [order, count, keepsStatus] as const)),
  );

  it.each(cases)(
    "without a garbage collector has its VMs and no others: %s, %i machines, status %s",
    async (order, count, keepsStatus) => {
      const before = await restore(count, order, { keepsStatus, collectsGarbage: false });
      await fleet.untilRunning(count);
      await untilQuiet(writes);
      const ids = (await fleet.machines()).map(({ spec }) => spec.providerID);
      expect(new Set(ids)).toEqual(new Set(fleet.cloud.vms().map(({ providerId }) => providerId)));
      expectKept(before);
      await eventually(async () => {
        const ref = { namespace, name: "fleet" };
        const { status } = await fleet.api.get<MachineDeployment>(machineDeploymentResource, ref);
        expect(status).toMatchObject({ replicas: count, availableReplicas: count });
      });
      expect((await fleet.api.list(machineSetResource, { namespace })).items).toHaveLength(1);
    },
  );

  it.each(orders.flatMap((order) => [false, true].map((isStopped) => [order, isStopped] as const)))(
    "has its VMs and no others when a person applies file after file: %s, controllers stopped: %s",
    async (order, isStopped) => {
      const before = await restore(14, order, { collectsGarbage: false, pauseMs: 2_000, isStopped });
      await fleet.untilRunning(14);
      await untilQuiet(writes);
      expect(before).toHaveLength(14);
      expectKept(before);
    },
  );

  it.each(cases)(
    "keeps its VMs from the garbage collector, and makes no others: %s, %i machines, status %s",
    async (order, count, keepsStatus) => {
      const before = await restore(count, order, { keepsStatus });
      await eventually(async () => {
        const machines = await fleet.machines();
        const isSettled = machines.map(({ metadata, status }) =>
          metadata.deletionTimestamp === undefined
            ? status?.currentStatus?.phase === "Running"
            : status?.lastOperation?.description?.startsWith("Deletion held: its owner") === true,
        );
        expect(isSettled).toEqual(Array.from({ length: count }, () => true));
      });
      await untilQuiet(writes);
      expectKept(before);
    },
  );
});
