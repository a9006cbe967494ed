import type { DriverContext } from "@millwright/core";
import type { ImmediateDriver } from "@millwright/core/testing";
import type { GceEmulator } from "@millwright/emulators/gce";
import { describe, expect, it } from "vitest";
import type { GcpSpec } from "./spec/spec.ts";
import { aCloud, aContext, aMachine, aRequest, plainSpec, roleOfReadme, spotScheduling } from "./testing/gcp-cloud.ts";

const [boot] = plainSpec.disks;

/** A class that makes use of all that a role has to allow. */
const demanding = {
  scheduling: spotScheduling,
  disks: [{ ...boot, storagePool: "zones/europe-west1-b/storagePools/a" }],
  networkInterfaces: [{ subnetwork: "nodes" }, { network: "shoot" }],
  serviceAccounts: [{ email: "nodes@my-project.iam.gserviceaccount.com", scopes: [] }],
};

/** Every method, and every request that they can make. */
async function doEverything(gce: GceEmulator, driver: ImmediateDriver<GcpSpec>, context: DriverContext): Promise<void> {
  const request = aRequest(aMachine("m"), demanding);
  const { providerId } = await driver.createMachine(request, context);
  await driver.getMachineStatus(request, context);
  await driver.listMachines?.(request, context);
  await driver.findDrift?.(request, context);
  await driver.getNodeTemplate?.(request, context);
  const known = aRequest(aMachine("m", { providerId }), demanding);
  gce.reclaim("m");
  // A list of operations shows that it was reclaimed.
  const error: unknown = await driver.getMachineStatus(known, context).catch((thrown: unknown) => thrown);
  if (!(error instanceof Error) || !error.message.includes("was reclaimed")) throw error;
  const kept = gce.world.disks.get("my-project/europe-west1-b/m");
  if (kept !== undefined) kept.instanceId = undefined;
  await driver.deleteMachine(known, context);
}

describe("the role in the README", () => {
  it("allows all that the driver does", async () => {
    const { gce, driver } = await aCloud({ operationMs: 1 });
    await doEverything(gce, driver, aContext());
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
    expect(gce.log.requests.map(({ end }) => end)).not.toContain(403);
  });

  it.each(roleOfReadme)("needs %s, and names it in the error if it is missing", async (permission) => {
    const { gce, driver } = await aCloud({
      operationMs: 1,
      permissions: roleOfReadme.filter((other) => other !== permission),
    });
    await expect(doEverything(gce, driver, aContext())).rejects.toMatchObject({
      // Operations are read after a launch that was accepted: that is no rejection of the VM.
      code: permission === "compute.zoneOperations.get" ? "Unavailable" : "PermissionDenied",
      message: expect.stringMatching(
        new RegExp(`Required '${permission}' permission .*grant the service account the role`),
      ),
    });
  });
});
