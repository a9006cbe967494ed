import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  recreateCrd,
  deleteCrd,
  exportObjects,
  removeFinalizers,
  recreateObjects,
  untilCrdDeleted,
  vmsOf,
} from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;

/** A real kube-apiserver deletes the objects of a kind in its own order, and its garbage collector deletes dependents. */
describe("deletion of the CRD of machines on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let millwright: MillwrightProcess;

  beforeAll(async () => {
    fleet = await startRealFleet();
    // Not for want of a role: objects of a terminating CRD cannot be created.
    fleet.expectForbidden(/^create .*\/(machines|machinesets)$/);
    await fleet.api.create(machineClassResource, machineClass("small"));
    millwright = fleet.runAlone();
  }, REAL_FLEET_MS);

  afterAll(() => fleet.close(), 60_000);

  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: count }, () => "Running"));
    }, LONG);
  const calls = (operation: string): number => fleet.cloud.calls.filter((call) => call.operation === operation).length;

  it("deletes no VM, and the same VMs are adopted when all is restored", async () => {
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await untilRunning(2);
    const before = vmsOf(await fleet.machines());
    await deleteCrd(fleet.api, "Machine");
    await eventually(async () => {
      const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description);
      expect(texts).toEqual([expect.stringMatching(/^Deletion paused/), expect.stringMatching(/^Deletion paused/)]);
    }, LONG);
    const saved = await exportObjects(fleet.api, "Machine");
    await removeFinalizers(fleet.api, "Machine");
    await untilCrdDeleted(fleet.api, "Machine");
    await recreateCrd(fleet.api, "Machine");
    await recreateObjects(fleet.api, "Machine", saved);
    await untilRunning(2);
    expect(vmsOf(await fleet.machines())).toEqual(before);
    expect([calls("create"), calls("delete")]).toEqual([2, 0]);
    expect(millwright.child.exitCode).toBeNull();
    // A set that is deleted before it has adopted a machine leaves that machine, as any owner does.
    await eventually(async () => {
      for (const { metadata } of await fleet.machines()) expect(metadata.ownerReferences).toHaveLength(1);
    }, LONG);
    await fleet.api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" });
    await eventually(async () => expect(fleet.cloud.vms()).toEqual([]), LONG);
  });
});
