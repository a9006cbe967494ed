import type { VirtualMachine } from "@azure/arm-compute";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { anArm, idOf } from "./testing/sdk-clients.ts";

describe("virtual machines", () => {
  it("are created, shown and deleted with their resources", async () => {
    const { emulator, compute, putVm } = await anArm({ vmMs: 20, deleteMs: 20, partMs: 10 });
    const made = await putVm("m");
    expect(made).toMatchObject({ name: "m", provisioningState: "Succeeded", zones: ["1"] });
    expect(made.osProfile?.customData).toBeUndefined();
    const { instanceView } = await compute.virtualMachines.get("shoot", "m", { expand: "instanceView" });
    expect(instanceView?.statuses?.map(({ code }) => code)).toEqual([
      "ProvisioningState/succeeded",
      "PowerState/running",
    ]);
    expect(emulator.inventory()).toMatchObject({ vms: [{ name: "m" }], nics: [{ vmId: made.id }] });
    expect(emulator.inventory().disks.map(({ name }) => name)).toEqual(["m-os-disk", "m-0-data-disk"]);
    await compute.virtualMachines.delete("shoot", "m", { updateIntervalInMs: 5 });
    expect(emulator.inventory()).toEqual({ vms: [], nics: [], disks: [] });
    await compute.virtualMachines.delete("shoot", "m");
    await expect(compute.virtualMachines.get("shoot", "m")).rejects.toMatchObject({
      code: "ResourceNotFound",
      statusCode: 404,
    });
  });

  it("keep NICs and disks until their delete options change", async () => {
    const { emulator, compute, putVm } = await anArm();
    const nicId = idOf("Microsoft.Network/networkInterfaces", "m-nic");
    await putVm("m", { networkProfile: { networkInterfaces: [{ id: nicId, primary: true }] } });
    await putVm("n", {
      networkProfile: { networkInterfaces: [{ id: nicId.replace("m-nic", "n-nic"), primary: true }] },
    });
    await compute.virtualMachines.update("shoot", "n", {
      networkProfile: { networkInterfaces: [{ id: nicId.replace("m-nic", "n-nic"), deleteOption: "Delete" }] },
    });
    await compute.virtualMachines.delete("shoot", "m");
    await compute.virtualMachines.delete("shoot", "n");
    expect(emulator.inventory()).toMatchObject({ vms: [], nics: [{ name: "m-nic" }], disks: [] });
  });

  it("do not change with the same PUT, nor create another one", async () => {
    const { emulator, putVm } = await anArm();
    const [first, second] = [await putVm("m"), await putVm("m")];
    expect(first.vmId).toBe(second.vmId);
    await expect(
      putVm("m", { osProfile: { computerName: "m", adminUsername: "other", linuxConfiguration: {} } }),
    ).rejects.toMatchObject({
      code: "PropertyChangeNotAllowed",
    });
    await expect(putVm("m", {}, { ifNoneMatch: "*" })).rejects.toMatchObject({ statusCode: 412 });
    expect(emulator.inventory().vms).toHaveLength(1);
  });

  it.each<[string, Partial<VirtualMachine>, string, number]>([
    ["an unknown size", { hardwareProfile: { vmSize: "Standard_X" } }, "InvalidParameter", 400],
    [
      "a size that is not in the zone",
      { hardwareProfile: { vmSize: "Standard_D2ps_v5" }, zones: ["3"] },
      "SkuNotAvailable",
      409,
    ],
    ["an unknown location", { location: "nowhere" }, "LocationNotAvailableForResourceType", 400],
    [
      "an unknown image",
      { storageProfile: { imageReference: { id: "/missing" }, osDisk: { name: "d", createOption: "FromImage" } } },
      "NotFound",
      404,
    ],
    [
      "an image without its plan",
      {
        storageProfile: {
          imageReference: { publisher: "kinvolk", offer: "flatcar", sku: "stable", version: "4081.2.0" },
          osDisk: { name: "d", createOption: "FromImage" },
        },
      },
      "VMMarketplaceInvalidInput",
      400,
    ],
    [
      "a reserved user",
      { osProfile: { computerName: "m", adminUsername: "root", linuxConfiguration: {} } },
      "InvalidParameter",
      400,
    ],
    [
      "a confidential VM without encryption",
      { securityProfile: { securityType: "ConfidentialVM" } },
      "InvalidParameter",
      400,
    ],
    [
      "an identity that is no resource",
      { identity: { type: "UserAssigned", userAssignedIdentities: { nodes: {} } } },
      "LinkedInvalidPropertyId",
      400,
    ],
    ["an unknown field", { licenseType: "RHEL_BYOS" }, "InvalidParameter", 400],
  ])("are refused with %s", async (_, change, code, statusCode) => {
    const { putVm } = await anArm();
    await expect(putVm("m", change)).rejects.toMatchObject({ code, statusCode });
  });

  it("fail without capacity: they stay as failed VMs, and their NIC stays reserved", async () => {
    const { emulator, compute, network, putVm } = await anArm({ vmMs: 5 });
    emulator.world.capacity.set("Standard_D2s_v5/1", 0);
    await expect(putVm("m")).rejects.toThrow(/ZonalAllocationFailed/);
    await expect(compute.virtualMachines.get("shoot", "m")).resolves.toMatchObject({ provisioningState: "Failed" });
    await expect(network.networkInterfaces.delete("shoot", "m-nic")).rejects.toMatchObject({ code: "NicInUse" });
    await compute.virtualMachines.delete("shoot", "m");
    expect(emulator.inventory()).toEqual({ vms: [], nics: [], disks: [] });
  });

  it("are rejected at once where the cloud checks capacity at once", async () => {
    const { emulator, network, putVm } = await anArm({ refusesCapacityAtOnce: true, coreLimit: 2 });
    emulator.world.capacity.set("Standard_D2s_v5", 0);
    await expect(putVm("m")).rejects.toMatchObject({ code: "ZonalAllocationFailed", statusCode: 409 });
    await expect(network.networkInterfaces.delete("shoot", "m-nic")).rejects.toMatchObject({
      code: "NicReservedForAnotherVm",
    });
    emulator.world.capacity.clear();
    await putVm("m");
    await expect(putVm("n")).rejects.toMatchObject({
      code: "OperationNotAllowed",
      message: expect.stringContaining("quota"),
    });
    expect(emulator.inventory().vms).toHaveLength(1);
  });

  it("are listed page by page", async () => {
    const { emulator, compute, putVm } = await anArm({ pageSize: 2 });
    for (const name of ["a", "b", "c", "d", "e"]) await putVm(name);
    const names: (string | undefined)[] = [];
    for await (const { name } of compute.virtualMachines.list("shoot")) names.push(name);
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    expect(emulator.log.count("VirtualMachines_List")).toBe(3);
    await expect(compute.virtualMachines.list("nowhere").next()).rejects.toMatchObject({
      code: "ResourceGroupNotFound",
    });
  });

  it("are found by their names in any case", async () => {
    const { compute, putVm } = await anArm();
    await putVm("m");
    await expect(compute.virtualMachines.get("SHOOT", "M")).resolves.toMatchObject({ name: "m" });
  });

  it("stay and never run after their creation was canceled", async () => {
    const { emulator, compute, putVm } = await anArm({ clock: createVirtualClock(), vmMs: 60_000 });
    const making = putVm("m").catch((error: unknown) => String(error));
    await expect.poll(() => emulator.inventory().vms.length).toBe(1);
    emulator.cancel("m");
    expect(await making).toContain("canceled");
    const { instanceView } = await compute.virtualMachines.get("shoot", "m", { expand: "instanceView" });
    expect(instanceView?.statuses?.map(({ code }) => code)).toEqual(["ProvisioningState/failed/Canceled"]);
  });

  it("are deallocated or deleted when Azure evicts them", async () => {
    const { emulator, compute, putVm } = await anArm();
    await putVm("m", { priority: "Spot", evictionPolicy: "Deallocate" });
    await putVm("n", { priority: "Spot", evictionPolicy: "Delete" });
    emulator.evict("m");
    emulator.evict("n");
    const { instanceView } = await compute.virtualMachines.get("shoot", "m", { expand: "instanceView" });
    expect(instanceView?.statuses?.at(-1)?.code).toBe("PowerState/deallocated");
    await expect(compute.disks.get("shoot", "m-os-disk")).resolves.toMatchObject({ diskState: "Reserved" });
    expect(emulator.inventory().vms).toHaveLength(1);
  });

  it("take time by the clock", async () => {
    const clock = createVirtualClock();
    const { emulator, compute, putVm } = await anArm({ clock, vmMs: 60_000 });
    const poller = putVm("m");
    // A response that no caller awaits yet.
    poller.catch(() => undefined);
    await expect.poll(() => emulator.log.count("Operations_Get")).toBeGreaterThan(1);
    await expect(compute.virtualMachines.get("shoot", "m")).resolves.toMatchObject({ provisioningState: "Creating" });
    await clock.advance(60_000);
    await expect(poller).resolves.toMatchObject({ provisioningState: "Succeeded" });
  });
});
