import { describe, expect, it } from "vitest";
import { ownerTagKeys } from "./owner-tags.ts";
import { aCloud, aContext, aMachine, aRequest, plainProperties, plainSpec } from "./testing/azure-cloud.ts";

const dataDisks = [{ lun: 3, name: "etcd", diskSizeGB: 5, storageAccountType: "Premium_LRS" }];
const withDisk = { properties: { storageProfile: { ...plainProperties.storageProfile, dataDisks } } };

describe("listing machines", () => {
  it("finds those of the cluster and role, page by page", async () => {
    const { arm, driver } = await aCloud({ pageSize: 4 });
    const names = Array.from({ length: 10 }, (_, index) => `m-${index}`);
    await Promise.all(names.map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    const other = { tags: { "kubernetes.io-cluster-shoot-2": "1", "kubernetes.io-role-node": "1" } };
    await driver.createMachine(aRequest(aMachine("foreign"), { spec: other }), aContext());
    arm.log.clear();
    const listed = await driver.listMachines?.(aRequest(), aContext());
    expect(listed?.machines).toHaveLength(10);
    expect(listed?.machines).toContainEqual({
      providerId: "azure:///westeurope/m-3",
      machineName: "m-3",
      machineUid: "uid-of-m-3",
    });
    expect(arm.log.count("VirtualMachines_List")).toBe(3);
  });

  it.each(["nics", "disks"] as const)(
    "finds a machine of which only %s are left, also one that MCM made",
    async (kind) => {
      const { arm, driver } = await aCloud();
      await driver.createMachine(aRequest(aMachine("m"), withDisk), aContext());
      arm.world.vms.clear();
      if (kind === "nics") arm.world.disks.clear();
      else arm.world.nics.clear();
      const request = aRequest(aMachine("other"), withDisk);
      await expect(driver.listMachines?.(request, aContext())).resolves.toEqual({
        machines: [{ providerId: "azure:///westeurope/m", machineName: "m", machineUid: "uid-of-m" }],
      });
      for (const { id, tags } of arm.inventory()[kind]) {
        expect(tags[ownerTagKeys.machine]).toBe("m");
        const part = arm.world[kind].get(id.toLowerCase());
        if (part !== undefined) part.tags = { ...plainSpec.tags };
      }
      await expect(driver.listMachines?.(request, aContext())).resolves.toEqual({
        machines: [{ providerId: "azure:///westeurope/m", machineName: "m" }],
      });
    },
  );

  it("takes no disk for a machine that is named for none", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [disk] = arm.inventory().disks;
    expect(disk).toBeDefined();
    if (disk === undefined) return;
    arm.world.vms.clear();
    arm.world.nics.clear();
    arm.world.disks.clear();
    for (const name of ["pvc-1", "m-7-data-disk", "-os-disk"]) {
      arm.world.disks.set(name, { ...disk, id: disk.id.replace(disk.name, name), name, tags: { ...plainSpec.tags } });
    }
    await expect(driver.listMachines?.(aRequest(), aContext())).resolves.toEqual({ machines: [] });
  });

  it("is empty where there is nothing, and no resource group", async () => {
    for (const groups of [["shoot"], ["other"]]) {
      const { driver } = await aCloud({ groups });
      await expect(driver.listMachines?.(aRequest(), aContext())).resolves.toEqual({ machines: [] });
    }
  });

  it.each(["VirtualMachines_List", "NetworkInterfaces_List", "Disks_ListByResourceGroup"])(
    "is an error and never cut short when a page of %s is missing",
    async (operation) => {
      const { arm, driver } = await aCloud({ pageSize: 1 });
      for (const name of ["a", "b", "c"]) await driver.createMachine(aRequest(aMachine(name)), aContext());
      arm.faults.add({
        operation,
        skip: 1,
        times: 9,
        end: { kind: "refuse", refusal: { code: "InternalServerError" } },
      });
      await expect(driver.listMachines?.(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    },
  );

  it("is shared by classes that ask at the same time", async () => {
    const { arm, driver } = await aCloud();
    await Promise.all(Array.from({ length: 20 }, async () => driver.listMachines?.(aRequest(), aContext())));
    expect(
      arm.log.requests.filter(({ operation }) => operation !== "Token" && operation !== "OpenIdConfiguration"),
    ).toHaveLength(3);
  });
});
