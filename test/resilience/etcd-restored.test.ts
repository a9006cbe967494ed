import { annotationKeys, machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import { eventResource, leaseResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const LONG = 90_000;

/** The control cluster is restored from a backup while `millwright run` goes on. */
describe("millwright run whose API server is restored from a backup", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  const eventReasons = async (): Promise<readonly unknown[]> =>
    (await fleet.api.list(eventResource, { namespace })).items.map(({ reason }) => reason);
  const writes = (): number =>
    fleet.requests().filter(({ verb, resource }) => !["watch", "list", "get"].includes(verb) && resource !== "leases")
      .length;

  it.each([0, 1_000_000])(
    "keeps the machines that the backup has, and goes on from there, with versions %i higher than in the backup",
    async (addedRevisions) => {
      fleet = await startControlledFleet();
      const process = fleet.run();
      await fleet.deploy(3);
      await fleet.untilRunning(3);
      await untilQuiet(writes);
      const kept = vmsOf(await fleet.machines());
      const backup = fleet.server.backup();
      await fleet.scale(5);
      await fleet.untilRunning(5);

      await fleet.server.restart({ restore: backup, addedRevisions, downMs: 500 });
      await process.waitFor(/went back to an earlier state/, LONG);
      await eventually(async () => expect(await eventReasons()).toContain("APIServerWentBack"), LONG);
      await untilQuiet(writes);
      expect(vmsOf(await fleet.machines())).toEqual(kept);
      expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([5, 0]);

      await fleet.scale(2);
      await eventually(async () => expect(await fleet.machines()).toHaveLength(2), LONG);
      expect(fleet.callsOf("create")).toBe(5);
      expect(fleet.cloud.vms()).toHaveLength(4);
      expect(process.child.exitCode).toBeNull();
    },
  );

  it("creates no others for machines that are missing in the backup, until a user removes the annotation", async () => {
    fleet = await startControlledFleet();
    fleet.run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    await fleet.scale(5);
    const backup = fleet.server.backup();
    await fleet.untilRunning(5);

    await fleet.server.restart({ restore: backup, downMs: 500 });
    await eventually(async () => expect(await eventReasons()).toContain("MachinesVanished"), LONG);
    await untilQuiet(writes);
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([5, 0]);

    const [set] = (await fleet.api.list(machineSetResource, { namespace })).items;
    expect(set?.metadata.annotations?.[annotationKeys.expectedReplicas]).toBe("5");
    const remove = { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } };
    await fleet.api.patch(machineSetResource, { namespace, name: set?.metadata.name ?? "" }, remove, { kind: "merge" });
    await eventually(async () => {
      expect(await fleet.machines()).toHaveLength(5);
      expect(fleet.callsOf("create")).toBe(8);
    }, LONG);
    expect(fleet.callsOf("delete")).toBe(0);
  });

  it("keeps healthy machines when deleted ones are back, and replaces those whose VM is deleted", async () => {
    fleet = await startControlledFleet();
    fleet.run("--machine-health-timeout=5s", "--machine-creation-timeout=20s");
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    // The silence of a kubelet shows only in the Lease of its Node.
    const leases = () => fleet.api.list(leaseResource, { namespace: "kube-node-lease" });
    await eventually(async () => expect((await leases()).items).toHaveLength(3));
    const backup = fleet.server.backup();
    await fleet.scale(1);
    await fleet.untilRunning(1);
    const healthy = vmsOf(await fleet.machines());

    await fleet.server.restart({ restore: backup, downMs: 500 });
    await fleet.untilRunning(3, 2 * LONG);
    expect(vmsOf(await fleet.machines())).toEqual(expect.arrayContaining([...healthy]));
    await eventually(async () => {
      const { status } = await fleet.api.get(machineDeploymentResource, { namespace, name: "fleet" });
      expect(status).toMatchObject({ replicas: 3, availableReplicas: 3 });
    }, LONG);
    expect(fleet.callsOf("create")).toBe(5);
  });
});
