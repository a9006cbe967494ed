import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, nothing, plainProperties } from "../testing/azure-cloud.ts";

const { storageProfile } = plainProperties;

describe("a lack of capacity", () => {
  const withDisk = {
    storageProfile: {
      ...storageProfile,
      dataDisks: [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } }],
    },
  };

  it.each([
    ["reported at once", true],
    ["reported at the end", false],
  ])("is ResourceExhausted and leaves nothing behind: %s", async (_, refusesCapacityAtOnce) => {
    const { arm, driver } = await aCloud({ refusesCapacityAtOnce, reservationMs: 0, vmMs: 10, deleteMs: 10 });
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    await expect(
      driver.createMachine(aRequest(aMachine("m"), { properties: withDisk }), aContext()),
    ).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(
        /^creating Standard_D2s_v5 in zone 1 \(westeurope\): .*\(ZonalAllocationFailed\)$/,
      ),
    });
    expect(arm.inventory()).toEqual(nothing);
  });

  it.each([
    ["VM", "VirtualMachines_Delete", { vms: [{ name: "m" }], nics: [{ name: "m-nic" }] }],
    ["NIC", "NetworkInterfaces_Delete", { vms: [], nics: [{ name: "m-nic" }], disks: [] }],
    ["disk", "Disks_Delete", { vms: [], nics: [], disks: [{ name: "m-0-data-disk" }] }],
  ])("is reported with the leftovers, which the deletion of the machine removes: %s", async (...row) => {
    const [, operation, left] = row;
    const isAtOnce = operation !== "VirtualMachines_Delete";
    const { arm, driver } = await aCloud({ refusesCapacityAtOnce: isAtOnce, reservationMs: 0 });
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    const refusal = { code: "InternalServerError", message: "not now" };
    arm.faults.add({ operation, times: 9, end: { kind: "refuse", refusal } });
    const request = aRequest(aMachine("m"), { properties: withDisk });
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/ZonalAllocationFailed.*not now/),
    });
    expect(arm.inventory()).toMatchObject(left);
    arm.faults.clear();
    await expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({ code: "NotFound" });
    await driver.deleteMachine(request, aContext());
    expect(arm.inventory()).toEqual(nothing);
  });

  it("is reported although Azure reserves the NIC for the rejected VM, until the NIC can be deleted", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, refusesCapacityAtOnce: true });
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/ZonalAllocationFailed.*NicReservedForAnotherVm/),
    });
    await expect(driver.deleteMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    await clock.advance(180_000);
    await driver.deleteMachine(aRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
  });

  it("leads to the next size and zone of the class, whose disks are made where the VM is", async () => {
    const { arm, driver } = await aCloud({ vmMs: 5 });
    arm.world.capacity.set("Standard_D2s_v5", 0);
    arm.world.capacity.set("Standard_D4s_v5/1", 0);
    const fallbacks = [{ zone: 2 }, { vmSize: "Standard_D4s_v5" }, { vmSize: "Standard_D4s_v5", zone: 3 }];
    const change = { spec: { fallbacks, properties: { ...plainProperties, ...withDisk } } };
    await driver.createMachine(aRequest(aMachine("m"), change), aContext());
    expect(arm.vm("m").body).toMatchObject({
      zones: ["3"],
      properties: { hardwareProfile: { vmSize: "Standard_D4s_v5" } },
    });
    expect(arm.inventory().disks.map(({ zones }) => zones)).toEqual([["3"], ["3"]]);
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(4);
    await driver.createMachine(aRequest(aMachine("m"), change), aContext());
    expect(arm.inventory().vms).toHaveLength(1);
  });

  it("that leaves no VM leaves the NIC for the next candidate: Azure may keep it for that VM", async () => {
    const { arm, driver } = await aCloud({ refusesCapacityAtOnce: true });
    arm.world.capacity.set("Standard_D2s_v5", 0);
    const change = { spec: { fallbacks: [{ zone: 2 }, { vmSize: "Standard_D4s_v5" }] } };
    await driver.createMachine(aRequest(aMachine("m"), change), aContext());
    expect(arm.vm("m").body.properties.hardwareProfile.vmSize).toBe("Standard_D4s_v5");
    expect(arm.log.count("NetworkInterfaces_CreateOrUpdate")).toBe(1);
    expect(arm.log.count("NetworkInterfaces_Delete")).toBe(0);
  });

  it("of all candidates is reported with all of them", async () => {
    const { arm, driver } = await aCloud({ coreLimit: 1 });
    const change = { spec: { fallbacks: [{ vmSize: "Standard_D4s_v5" }] } };
    await expect(driver.createMachine(aRequest(aMachine("m"), change), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/Standard_D2s_v5.*quota.*Standard_D4s_v5.*quota/),
    });
    expect(arm.inventory()).toEqual(nothing);
  });
});

describe("what an earlier try has left", () => {
  const dataDisks = [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } }];
  const inZone = (zone: number) =>
    aRequest(aMachine("m"), { properties: { zone, storageProfile: { ...storageProfile, dataDisks } } });

  it("is used again: NIC and disks of a creation whose VM was refused", async () => {
    const { arm, driver } = await aCloud();
    arm.faults.add({
      operation: "VirtualMachines_CreateOrUpdate",
      end: { kind: "refuse", refusal: { code: "InvalidParameter" } },
    });
    await expect(driver.createMachine(inZone(1), aContext())).rejects.toMatchObject({ code: "InvalidArgument" });
    expect(arm.inventory()).toMatchObject({ vms: [], nics: [{ name: "m-nic" }], disks: [{ name: "m-0-data-disk" }] });
    await driver.createMachine(inZone(1), aContext());
    expect(arm.log.count("NetworkInterfaces_CreateOrUpdate")).toBe(1);
    expect(arm.log.count("Disks_Delete")).toBe(0);
  });

  it("goes where it is in the way: disks in another zone, and that of a system whose VM is gone", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(inZone(3), aContext());
    // A user deletes only the VM.
    for (const disk of arm.vm("m").disks) disk.deleteOption = "Detach";
    arm.world.vms.clear();
    for (const disk of arm.inventory().disks) delete disk.managedBy;
    for (const nic of arm.inventory().nics) delete nic.vmId;
    await driver.createMachine(inZone(1), aContext());
    expect(arm.inventory().disks.map(({ name, zones }) => [name, zones])).toEqual([
      ["m-0-data-disk", ["1"]],
      ["m-os-disk", ["1"]],
    ]);
    expect(arm.log.count("Disks_Delete")).toBe(2);
  });

  it("is kept and reported if it has another owner", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(inZone(1), aContext());
    arm.world.vms.clear();
    for (const disk of arm.inventory().disks) {
      delete disk.managedBy;
      disk.tags = {};
    }
    for (const nic of arm.inventory().nics) delete nic.vmId;
    await expect(driver.createMachine(inZone(1), aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
      message: expect.stringMatching(/disk "m-(os|0-data)-disk" of another owner/),
    });
    expect(arm.log.count("Disks_Delete")).toBe(0);
    expect(arm.log.count("Disks_CreateOrUpdate")).toBe(1);
  });
});
