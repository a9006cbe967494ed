import { describe, expect, it } from "vitest";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  plainProperties,
  plainSpec,
  type SpecChange,
} from "./testing/azure-cloud.ts";

const { storageProfile } = plainProperties;

describe("drift", () => {
  it.each<[string, SpecChange]>([
    ["a plain class", {}],
    ["a fallback that was taken", { spec: { fallbacks: [{ vmSize: "Standard_D4s_v5", zone: 2 }] } }],
    [
      "a class with everything",
      {
        properties: {
          storageProfile: {
            ...storageProfile,
            imageReference: { urn: "canonical:ubuntu:24_04:latest" },
            dataDisks: [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS" }],
          },
          priority: "Spot",
          identityID: "/identities/i",
          securityProfile: { securityType: "TrustedLaunch", uefiSettings: { vtpmEnabled: true } },
        },
      },
    ],
  ])("is none right after a creation from %s", async (_, change) => {
    const { arm, driver } = await aCloud();
    if (change.spec !== undefined) arm.world.capacity.set("Standard_D2s_v5", 0);
    const request = aRequest(aMachine("m"), change);
    await driver.createMachine(request, aContext());
    await expect(driver.findDrift?.(request, aContext())).resolves.toEqual({
      providerId: "azure:///westeurope/m",
      differences: [],
    });
  });

  it.each<[string, SpecChange, object]>([
    [
      "size",
      { properties: { hardwareProfile: { vmSize: "Standard_D4s_v5" } } },
      { field: "properties.hardwareProfile.vmSize", wanted: "Standard_D4s_v5", found: "Standard_D2s_v5" },
    ],
    ["zone", { properties: { zone: 2 } }, { field: "properties.zone", wanted: "2", found: "1" }],
    [
      "image",
      { properties: { storageProfile: { ...storageProfile, imageReference: { id: "/new" } } } },
      { field: "properties.storageProfile.imageReference.id", wanted: "/new", found: "/subscriptions/sub-1/image" },
    ],
    [
      "size of a disk",
      { properties: { storageProfile: { ...storageProfile, osDisk: { ...storageProfile.osDisk, diskSizeGB: 99 } } } },
      { field: "properties.storageProfile.osDisk.diskSizeGB", wanted: "99", found: "30" },
    ],
    [
      "priority",
      { properties: { priority: "Spot" } },
      { field: "properties.priority", wanted: "Spot", found: "Regular" },
    ],
    ["identity", { properties: { identityID: "/i" } }, { field: "properties.identityID", wanted: "/i", found: "" }],
    ["tag", { spec: { tags: { ...plainSpec.tags, team: "a" } } }, { field: "tags.team", wanted: "a", found: "" }],
  ])("tells another %s", async (_, change, difference) => {
    const { driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const drift = await driver.findDrift?.(aRequest(aMachine("m"), change), aContext());
    expect(drift?.differences).toEqual([difference]);
  });

  it("of a VM that is gone is NotFound", async () => {
    const { driver } = await aCloud();
    await expect(driver.findDrift?.(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });
});
