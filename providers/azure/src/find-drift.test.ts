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
const storage = (change: object): SpecChange => ({ properties: { storageProfile: { ...storageProfile, ...change } } });
const disk = { lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS" };
const reservations = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r";

const identity =
  "/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i";

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
          identityID: identity,
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
      storage({ imageReference: { id: "/new" } }),
      { field: "properties.storageProfile.imageReference.id", wanted: "/new", found: "/subscriptions/sub-1/image" },
    ],
    [
      "size of a disk",
      storage({ osDisk: { ...storageProfile.osDisk, diskSizeGB: 99 } }),
      { field: "properties.storageProfile.osDisk.diskSizeGB", wanted: "99", found: "30" },
    ],
    [
      "disk",
      storage({ dataDisks: [disk] }),
      { field: "properties.storageProfile.dataDisks[0]", wanted: "lun 0", found: "" },
    ],
    [
      "availability set",
      { properties: { zone: null, availabilitySet: { id: "/set" } } },
      { field: "properties.availabilitySet.id", wanted: "/set", found: "" },
    ],
    [
      "scale set",
      { properties: { zone: null, virtualMachineScaleSet: { id: "/vmss" } } },
      { field: "properties.virtualMachineScaleSet.id", wanted: "/vmss", found: "" },
    ],
    [
      "group of reservations",
      { properties: { capacityReservation: { capacityReservationGroupID: reservations } } },
      { field: "properties.capacityReservation.capacityReservationGroupID", wanted: reservations, found: "" },
    ],
    [
      "first user",
      { properties: { osProfile: { ...plainProperties.osProfile, adminUsername: "fedora" } } },
      { field: "properties.osProfile.adminUsername", wanted: "fedora", found: "core" },
    ],
    [
      "console",
      { properties: { diagnosticsProfile: { enabled: true } } },
      { field: "properties.diagnosticsProfile.enabled", wanted: "true", found: "false" },
    ],
    [
      "priority",
      { properties: { priority: "Spot" } },
      { field: "properties.priority", wanted: "Spot", found: "Regular" },
    ],
    [
      "identity",
      { properties: { identityID: identity } },
      { field: "properties.identityID", wanted: identity, found: "" },
    ],
    ["tag", { spec: { tags: { ...plainSpec.tags, team: "a" } } }, { field: "tags.team", wanted: "a", found: "" }],
    [
      "network",
      { spec: { subnetInfo: { vnetName: "shared", subnetName: "nodes" } } },
      { field: "subnetInfo.vnetName", wanted: "shared", found: "vnet" },
    ],
    [
      "subnet",
      { spec: { subnetInfo: { vnetName: "vnet", subnetName: "pods" } } },
      { field: "subnetInfo.subnetName", wanted: "pods", found: "nodes" },
    ],
    [
      "group of the network",
      { spec: { subnetInfo: { ...plainSpec.subnetInfo, vnetResourceGroup: "net" } } },
      { field: "subnetInfo.vnetResourceGroup", wanted: "net", found: "shoot" },
    ],
    [
      "kind of NIC",
      { properties: { networkProfile: { acceleratedNetworking: true } } },
      { field: "properties.networkProfile.acceleratedNetworking", wanted: "true", found: "false" },
    ],
  ])("reports another %s", async (_, change, difference) => {
    const { driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const drift = await driver.findDrift?.(aRequest(aMachine("m"), change), aContext());
    expect(drift?.differences).toEqual([difference]);
  });

  it("reports the differences of a VM with many settings, and another image by its kind of name", async () => {
    const { driver } = await aCloud();
    const detailed = (
      osDiskType: string,
      encryption: string,
      caching: string,
      controller: string,
      imageReference: object,
      protection: object,
    ): SpecChange => ({
      properties: {
        storageProfile: {
          imageReference,
          diskControllerType: controller,
          osDisk: {
            ...storageProfile.osDisk,
            caching,
            managedDisk: { storageAccountType: osDiskType, securityProfile: { securityEncryptionType: encryption } },
          },
          dataDisks: [{ ...disk, caching, storageAccountType: osDiskType, diskSizeGB: osDiskType.length }],
        },
        securityProfile: protection,
      },
    });
    const uefi = (isOn: boolean) => ({ uefiSettings: { secureBootEnabled: isOn, vtpmEnabled: isOn } });
    const was = detailed(
      "Premium_LRS",
      "VMGuestStateOnly",
      "ReadOnly",
      "SCSI",
      { urn: "canonical:ubuntu:24_04:latest" },
      { securityType: "ConfidentialVM", ...uefi(true) },
    );
    await driver.createMachine(aRequest(aMachine("m"), was), aContext());
    const is = (imageReference: object): SpecChange =>
      detailed("StandardSSD_LRS", "DiskWithVMGuestState", "None", "NVMe", imageReference, {
        securityType: "ConfidentialVM",
        ...uefi(false),
      });
    const fieldsOf = async (change: SpecChange): Promise<readonly string[]> => {
      const drift = await driver.findDrift?.(aRequest(aMachine("m"), change), aContext());
      return (drift?.differences ?? []).map(({ field }) => field.replace(/^properties\./, ""));
    };
    expect(await fieldsOf(was)).toEqual([]);
    expect(await fieldsOf(is({ urn: "canonical:ubuntu:26_04:latest" }))).toEqual([
      "securityProfile.uefiSettings.secureBootEnabled",
      "securityProfile.uefiSettings.vtpmEnabled",
      "storageProfile.dataDisks[0].caching",
      "storageProfile.dataDisks[0].diskSizeGB",
      "storageProfile.dataDisks[0].storageAccountType",
      "storageProfile.diskControllerType",
      "storageProfile.imageReference.urn",
      "storageProfile.osDisk.caching",
      "storageProfile.osDisk.managedDisk.securityProfile.securityEncryptionType",
      "storageProfile.osDisk.managedDisk.storageAccountType",
    ]);
    const launch = { properties: { securityProfile: { securityType: "TrustedLaunch" } } };
    expect(await fieldsOf(launch)).toContain("securityProfile.securityType");
    for (const kind of ["communityGalleryImageID", "sharedGalleryImageID"]) {
      expect(await fieldsOf(is({ [kind]: "/galleries/g" }))).toContain(`storageProfile.imageReference.${kind}`);
    }
  });

  it("of a VM that is gone is NotFound", async () => {
    const { driver } = await aCloud();
    await expect(driver.findDrift?.(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });
});
