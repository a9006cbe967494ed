import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, nothing, plainProperties } from "./testing/azure-cloud.ts";
import { ownerTagKeys } from "./vm/owner-tags.ts";

const dataDisks = [
  { lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS" },
  { lun: 1, name: "etcd", diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } },
];
const withDisks = { properties: { storageProfile: { ...plainProperties.storageProfile, dataDisks } } };
const before = aRequest(aMachine("m", { uid: "old" }), withDisks);
const known = aRequest(aMachine("m", { uid: "new", providerId: "azure:///westeurope/m" }), withDisks);
const unknown = aRequest(aMachine("m", { uid: "new" }), withDisks);

/** A cloud with the VM, the NIC and the disks of a machine whose object was restored, and so has another UID than their tags. */
async function aCloudWithVm() {
  const cloud = await aCloud();
  await cloud.driver.createMachine(before, aContext());
  cloud.arm.log.clear();
  return cloud;
}

type Arm = Awaited<ReturnType<typeof aCloud>>["arm"];

/** NIC and disks stay when the VM goes, as older drivers made them. */
function withoutCascade(arm: Arm): void {
  const vm = arm.vm("m");
  vm.provisioningState = "Failed";
  for (const part of [...vm.nics, ...vm.disks]) part.deleteOption = "Detach";
}

/** A user deletes the VM without its NIC and disks. */
function removeVm(arm: Arm): void {
  const { nics, disks } = arm.inventory();
  for (const nic of nics) delete nic.vmId;
  for (const disk of disks) delete disk.managedBy;
  arm.world.vms.clear();
}

describe("a machine that was restored under its old name", () => {
  it("keeps the VM that its provider id names, in one request, and does not write to it", async () => {
    const { arm, driver } = await aCloudWithVm();
    const { providerId } = known.machine;
    await expect(driver.getMachineStatus(known, aContext())).resolves.toMatchObject({ providerId });
    expect(arm.log.requests.map(({ operation }) => operation)).toEqual(["VirtualMachines_Get"]);
    await expect(driver.findDrift?.(known, aContext())).resolves.toEqual({ providerId, differences: [] });
    const machines = [{ providerId, machineName: "m", machineUid: "old", machineNamespace: "shoot" }];
    await expect(driver.listMachines?.(known, aContext())).resolves.toEqual({ machines });
  });

  it("is deleted with its VM, NIC and disks, and again without harm", async () => {
    const { arm, driver } = await aCloudWithVm();
    await driver.deleteMachine(known, aContext());
    expect(arm.inventory()).toEqual(nothing);
    await expect(driver.deleteMachine(known, aContext())).resolves.toEqual({ vm: "missing" });
  });

  it.each([
    ["do not go with the VM", withoutCascade],
    ["remain of a deleted VM", removeVm],
  ])("is deleted with NIC and disks that %s, and without those of others", async (_, change) => {
    const { arm, driver } = await aCloudWithVm();
    change(arm);
    await driver.createMachine(aRequest(aMachine("m-1"), withDisks), aContext());
    await driver.deleteMachine(known, aContext());
    const { vms, nics, disks } = arm.inventory();
    expect([vms, nics, disks].map((left) => left.every(({ name }) => name.startsWith("m-1")))).toEqual([
      true,
      true,
      true,
    ]);
    expect([vms.length, nics.length, disks.length]).toEqual([1, 1, 3]);
  });

  it("has no VM without a provider id: the one of that name is of the machine before", async () => {
    const { arm, driver } = await aCloudWithVm();
    await expect(driver.getMachineStatus(unknown, aContext())).rejects.toMatchObject({ code: "NotFound" });
    await expect(driver.createMachine(unknown, aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    await expect(driver.deleteMachine(unknown, aContext())).rejects.toMatchObject({ code: "PermissionDenied" });
    removeVm(arm);
    await driver.deleteMachine(unknown, aContext());
    expect(arm.inventory()).toMatchObject({ nics: [{ name: "m-nic" }], disks: [{}, {}, {}] });
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["another namespace", { [ownerTagKeys.namespace]: "other" }],
    ["another cluster", { "kubernetes.io-cluster-shoot": "", "kubernetes.io-cluster-other": "1" }],
    ["another role", { "kubernetes.io-role-node": "", "kubernetes.io-role-other": "1" }],
  ])("does not delete what is of %s, whatever its id names", async (_, change) => {
    const { arm, driver } = await aCloudWithVm();
    const { vms, nics, disks } = arm.inventory();
    for (const thing of [...vms, ...nics, ...disks]) {
      const tags = Object.entries({ ...thing.tags, ...change }).filter(([, value]) => value !== "");
      thing.tags = Object.fromEntries(tags);
    }
    await expect(driver.deleteMachine(known, aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("kept"),
    });
    removeVm(arm);
    await driver.deleteMachine(known, aContext());
    expect(arm.inventory()).toMatchObject({ nics: [{ name: "m-nic" }], disks: [{}, {}, {}] });
  });

  it("does not get the VM of another machine, whatever its id names", async () => {
    const { arm, driver } = await aCloudWithVm();
    const other = aRequest(aMachine("n", { providerId: "azure:///westeurope/m" }), withDisks);
    await expect(driver.deleteMachine(other, aContext())).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(arm.inventory().vms).toHaveLength(1);
  });
});
