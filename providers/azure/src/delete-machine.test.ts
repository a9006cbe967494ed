import { createVirtualClock } from "@millwright/core/testing";
import type { FaultEnd } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, nothing, plainProperties, plainSpec } from "./testing/azure-cloud.ts";

const disks = [
  { lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS" },
  { lun: 1, name: "etcd", diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } },
];
const withDisks = { properties: { storageProfile: { ...plainProperties.storageProfile, dataDisks: disks } } };
const aFullRequest = (name = "m", more = {}) => aRequest(aMachine(name, more), withDisks);
const failing: FaultEnd = { kind: "refuse", refusal: { code: "InternalServerError", message: "not now" } };

type Cloud = Awaited<ReturnType<typeof aCloud>>;

/** A disk that a CSI driver has attached to a VM. */
function attachVolume({ arm }: Cloud, vmName: string): void {
  const vm = arm.vm(vmName);
  const id = vm.id.replace(/virtualMachines.*/, "disks/pvc-1");
  arm.world.disks.set(id.toLowerCase(), {
    id,
    name: "pvc-1",
    group: "shoot",
    location: "westeurope",
    tags: { ...plainSpec.tags },
    provisioningState: "Succeeded",
    createdAtMs: 0,
    zones: ["1"],
    sku: "Premium_LRS",
    sizeGb: 9,
    creationData: { createOption: "Empty" },
    managedBy: vm.id,
  });
  vm.disks.push({ diskId: id, lun: 9, deleteOption: "Detach", toBeDetached: false });
}

/** Makes NIC and disks of a VM stay when it goes, as older drivers made them. */
function withoutCascade({ arm }: Cloud, vmName: string): void {
  const vm = arm.vm(vmName);
  for (const part of [...vm.nics, ...vm.disks]) part.deleteOption = "Detach";
}

describe("deleting a machine", () => {
  it("takes VM, NIC and disks, and waits until they are gone", async () => {
    const { arm, driver } = await aCloud({ deleteMs: 30, partMs: 10 });
    await driver.createMachine(aFullRequest(), aContext());
    await expect(driver.deleteMachine(aFullRequest(), aContext())).resolves.toEqual({ vm: "ended" });
    expect(arm.inventory()).toEqual(nothing);
    expect(arm.log.count("VirtualMachines_Update")).toBe(0);
  });

  it("takes nothing of other machines, and no volume that was attached later", async () => {
    const cloud = await aCloud();
    const { arm, driver } = cloud;
    for (const name of ["m", "m-1", "m-0"]) await driver.createMachine(aFullRequest(name), aContext());
    attachVolume(cloud, "m");
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.inventory().vms.map(({ name }) => name)).toEqual(["m-1", "m-0"]);
    expect(arm.inventory().nics).toHaveLength(2);
    expect(arm.inventory().disks.map(({ name }) => name)).toContain("pvc-1");
    expect(arm.inventory().disks).toHaveLength(7);
  });

  it("first marks NIC and disks for deletion with the VM, where an older driver did not, and keeps volumes attached", async () => {
    const cloud = await aCloud();
    const { arm, driver } = cloud;
    await driver.createMachine(aFullRequest(), aContext());
    withoutCascade(cloud, "m");
    attachVolume(cloud, "m");
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.log.count("VirtualMachines_Update")).toBe(1);
    expect(arm.log.count("NetworkInterfaces_Delete")).toBe(0);
    expect(arm.inventory()).toMatchObject({ vms: [], nics: [], disks: [{ name: "pvc-1" }] });
  });

  it("takes a VM that failed, with what goes with it", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aFullRequest(), aContext());
    arm.vm("m").provisioningState = "Failed";
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
    expect(arm.log.count("NetworkInterfaces_Delete") + arm.log.count("Disks_Delete")).toBe(0);
  });

  it.each<[string, (cloud: Cloud) => void]>([
    [
      "a disk is being detached from it",
      ({ arm }) => {
        for (const disk of arm.vm("m").disks) if (disk.lun !== undefined) disk.toBeDetached = true;
      },
    ],
    ["it failed", ({ arm }) => void (arm.vm("m").provisioningState = "Failed")],
  ])("takes what stayed after a VM that cannot be changed since %s", async (_, change) => {
    const cloud = await aCloud();
    const { arm, driver } = cloud;
    await driver.createMachine(aFullRequest(), aContext());
    withoutCascade(cloud, "m");
    change(cloud);
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.log.count("VirtualMachines_Update")).toBe(0);
    expect(arm.inventory()).toEqual(nothing);
  });

  it("takes what is left of a machine without a VM, also of one that MCM made", async () => {
    for (const isOfMcm of [false, true]) {
      const cloud = await aCloud();
      const { arm, driver } = cloud;
      await driver.createMachine(aFullRequest(), aContext());
      withoutCascade(cloud, "m");
      const { vms, nics, disks: left } = arm.inventory();
      for (const part of [...nics, ...left]) if (isOfMcm) part.tags = { ...plainSpec.tags };
      for (const nic of nics) delete nic.vmId;
      for (const disk of left) delete disk.managedBy;
      arm.world.vms.clear();
      expect([vms.length, nics.length, left.length]).toEqual([1, 1, 3]);
      await driver.deleteMachine(aFullRequest(), aContext());
      expect(arm.inventory()).toEqual(nothing);
    }
  });

  it("succeeds when there is nothing, or no resource group, and when it comes again", async () => {
    const { driver } = await aCloud();
    await driver.deleteMachine(aFullRequest(), aContext());
    await driver.createMachine(aFullRequest(), aContext());
    await driver.deleteMachine(aFullRequest(), aContext());
    const known = aFullRequest("m", { providerId: "azure:///westeurope/m" });
    // It may be in another resource group, if the class was changed.
    await expect(driver.deleteMachine(known, aContext())).resolves.toEqual({ vm: "missing" });
    const { driver: elsewhere } = await aCloud({ groups: ["net"] });
    await expect(elsewhere.deleteMachine(aFullRequest(), aContext())).resolves.toEqual({ vm: "missing" });
  });

  it("still knows VM, NIC and disks when the tags of the class have changed since", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aFullRequest(), aContext());
    const tags = { "kubernetes.io-cluster-renamed": "1", "kubernetes.io-role-node": "1" };
    const renamed = aRequest(aMachine("m"), { ...withDisks, spec: { tags } });
    await expect(driver.getMachineStatus(renamed, aContext())).resolves.toMatchObject({ nodeName: "m" });
    await driver.deleteMachine(renamed, aContext());
    expect(arm.inventory()).toEqual(nothing);
  });

  it("leaves a VM alone that does not carry the tags of its cluster or is of another machine", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aFullRequest(), aContext());
    await expect(driver.deleteMachine(aFullRequest("m", { uid: "new" }), aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
    });
    arm.vm("m").tags = { "kubernetes.io-cluster-other": "1", "kubernetes.io-role-node": "1" };
    await expect(
      driver.deleteMachine(aFullRequest("m", { providerId: "azure:///westeurope/m" }), aContext()),
    ).rejects.toMatchObject({ code: "PermissionDenied", message: expect.stringContaining("kept") });
    expect(arm.inventory().vms).toHaveLength(1);
  });

  it("takes a VM that is still being made, with all that belongs to it", async () => {
    const { arm, driver } = await aCloud({ clock: createVirtualClock(), vmMs: 60_000 });
    const creation = driver.createMachine(aFullRequest(), aContext()).catch((error: unknown) => error);
    await expect.poll(() => arm.inventory().vms.length).toBe(1);
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
    expect(await creation).toMatchObject({ code: "Aborted" });
  });

  it.each([
    ["NIC", "NetworkInterfaces_Delete", /NIC "m-nic": not now/, { nics: [{ name: "m-nic" }], disks: [] }],
    ["disk", "Disks_Delete", /disk "m-0-data-disk": not now/, { nics: [], disks: [{ name: "m-0-data-disk" }] }],
  ])(
    "deletes what it can when a %s cannot be deleted, and reports what remains",
    async (_, operation, message, left) => {
      const cloud = await aCloud();
      const { arm, driver } = cloud;
      await driver.createMachine(aFullRequest(), aContext());
      withoutCascade(cloud, "m");
      arm.vm("m").provisioningState = "Failed";
      const match = operation === "Disks_Delete" ? "m-0-data-disk" : "m-nic";
      arm.faults.add({ operation, match, times: 9, end: failing });
      await expect(driver.deleteMachine(aFullRequest(), aContext())).rejects.toMatchObject({
        code: "Unavailable",
        message: expect.stringMatching(message),
      });
      expect(arm.inventory()).toMatchObject({ vms: [], ...left });
      arm.faults.clear();
      await driver.deleteMachine(aFullRequest(), aContext());
      expect(arm.inventory()).toEqual(nothing);
    },
  );

  it("goes the long way when Azure refuses to change what goes with a VM", async () => {
    const cloud = await aCloud();
    const { arm, driver } = cloud;
    await driver.createMachine(aFullRequest(), aContext());
    withoutCascade(cloud, "m");
    const refusal = { code: "RequestDisallowedByPolicy", status: 403 };
    arm.faults.add({ operation: "VirtualMachines_Update", end: { kind: "refuse", refusal } });
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
    expect(arm.log.count("NetworkInterfaces_Delete")).toBe(1);
  });

  it("deletes no copy of a disk with all its tags, unless it has a name of the driver's", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [disk] = arm.inventory().disks;
    expect(disk).toBeDefined();
    if (disk === undefined) return;
    const { managedBy: _, ...copy } = disk;
    for (const name of ["backup", "m-backup", "m-9-data-disk"]) {
      const id = disk.id.replace(disk.name, name);
      arm.world.disks.set(id.toLowerCase(), { ...copy, id, name });
    }
    await driver.deleteMachine(aRequest(), aContext());
    expect(arm.inventory().disks.map(({ name }) => name)).toEqual(["backup", "m-backup"]);
    await expect(driver.listMachines?.(aRequest(), aContext())).resolves.toEqual({ machines: [] });
  });

  it("waits for a NIC that is kept for a VM that failed", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock });
    await driver.createMachine(aRequest(), aContext());
    const [nic] = arm.inventory().nics;
    const { id } = arm.vm("m");
    arm.world.vms.clear();
    arm.world.disks.clear();
    if (nic !== undefined) {
      delete nic.vmId;
      nic.reserved = { vmId: id, untilMs: arm.world.nowMs() + 180_000 };
    }
    await expect(driver.deleteMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("NicReservedForAnotherVm"),
    });
    await clock.advance(180_000);
    await driver.deleteMachine(aRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
  });

  it("does not delete what another VM still has", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.createMachine(aRequest(aMachine("n")), aContext());
    const other = arm.vm("n").id;
    arm.world.vms.delete(arm.vm("m").id.toLowerCase());
    for (const part of arm.inventory().nics) if (part.name === "m-nic") part.vmId = other;
    for (const part of arm.inventory().disks) if (part.name === "m-os-disk") part.managedBy = other;
    await expect(driver.deleteMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Aborted",
      message: expect.stringMatching(/NIC "m-nic".*VM "n" still has it.*disk "m-os-disk".*VM "n" still has it/),
    });
  });

  it.each([
    "VirtualMachines_Get",
    "VirtualMachines_Update",
    "VirtualMachines_Delete",
    "NetworkInterfaces_List",
    "Disks_ListByResourceGroup",
  ])("goes on the next time when %s fails", async (operation) => {
    const cloud = await aCloud();
    const { arm, driver } = cloud;
    await driver.createMachine(aFullRequest(), aContext());
    withoutCascade(cloud, "m");
    arm.faults.add({ operation, times: 3, end: failing });
    await expect(driver.deleteMachine(aFullRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    await driver.deleteMachine(aFullRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
  });

  it("stops waiting when the deadline has passed, and goes on the next time", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, deleteMs: 60_000 });
    await driver.createMachine(aFullRequest(), aContext());
    const deadline = new AbortController();
    const first = driver.deleteMachine(aFullRequest(), aContext(deadline.signal)).catch((error: unknown) => error);
    await expect.poll(() => arm.vm("m").provisioningState).toBe("Deleting");
    deadline.abort(new DOMException("too late", "TimeoutError"));
    expect(await first).toMatchObject({ code: "DeadlineExceeded" });
    arm.log.clear();
    const second = driver.deleteMachine(aFullRequest(), aContext());
    await expect.poll(() => arm.log.count("VirtualMachines_Get")).toBeGreaterThan(1);
    await clock.advance(60_000);
    await second;
    expect(arm.inventory()).toEqual(nothing);
    // Azure deletes it already.
    expect(arm.log.count("VirtualMachines_Delete")).toBe(0);
  });
});
