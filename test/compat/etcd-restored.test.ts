import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineSetResource,
  phaseOf,
} from "@millwright/core";
import { eventResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
const namespace = "default";

/** A watch from a version that a restored kube-apiserver has not reached yet is silent, and shows nothing of the restore. */
describe("restore of etcd from a backup on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let millwright: MillwrightProcess;

  beforeAll(async () => {
    fleet = await startRealFleet();
    await fleet.api.create(machineClassResource, machineClass("small"));
    // Its leases show a restore within seconds; without them an idle process may not notice one before its watches end. They outlast the restore.
    millwright = fleet.runAlone(
      "--leader-elect=true",
      "--leader-elect-lease-duration=90s",
      "--leader-elect-renew-deadline=80s",
    );
  }, REAL_FLEET_MS);

  afterAll(() => fleet.close(), 60_000);

  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: count }, () => "Running"));
    }, LONG);
  const scale = (replicas: number) =>
    fleet.api.patch(machineDeploymentResource, { namespace, name: "fleet" }, { spec: { replicas } }, { kind: "merge" });
  const calls = (operation: string): number => fleet.cloud.calls.filter((call) => call.operation === operation).length;

  it("keeps the machines that the backup has, and creates no others for those that it lacks", async () => {
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await untilRunning(2);
    const kept = vmsOf(await fleet.machines());
    const backup = await fleet.plane.backup();
    await scale(4);
    await untilRunning(4);

    await fleet.plane.restore(backup);
    await eventually(async () => {
      const { items } = await fleet.api.list(eventResource, { namespace });
      expect(items.map(({ reason }) => reason)).toContain("APIServerWentBack");
    }, LONG);
    expect(vmsOf(await fleet.machines())).toEqual(kept);
    await scale(3);
    await eventually(async () => {
      const [set] = (await fleet.api.list(machineSetResource, { namespace })).items;
      expect(set?.metadata.annotations?.[annotationKeys.expectedReplicas]).toBe("4");
    }, LONG);
    expect([calls("create"), calls("delete")]).toEqual([4, 0]);
    expect(millwright.child.exitCode).toBeNull();
  });
});
