import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainProperties, plainSpec } from "./testing/azure-cloud.ts";
import { ownerTagKeys } from "./vm/owner-tags.ts";

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
      machineNamespace: "shoot",
      machineUid: "uid-of-m-3",
    });
    expect(arm.log.count("VirtualMachines_List")).toBe(3);
  });

  it.each(["nics", "disks"] as const)("finds a machine with leftover %s only, also one of MCM", async (kind) => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), withDisk), aContext());
    arm.world.vms.clear();
    if (kind === "nics") arm.world.disks.clear();
    else arm.world.nics.clear();
    const request = aRequest(aMachine("other"), withDisk);
    await expect(driver.listMachines?.(request, aContext())).resolves.toEqual({
      machines: [
        {
          providerId: "azure:///westeurope/m",
          machineName: "m",
          machineUid: "uid-of-m",
          machineNamespace: "shoot",
          parts: kind === "nics" ? ["NIC m-nic"] : ["disk m-os-disk", "disk m-etcd-3-data-disk"],
        },
      ],
    });
    for (const { id, tags } of arm.inventory()[kind]) {
      expect(tags[ownerTagKeys.machine]).toBe("m");
      const part = arm.world[kind].get(id.toLowerCase());
      if (part !== undefined) part.tags = { ...plainSpec.tags };
    }
    await expect(driver.listMachines?.(request, aContext())).resolves.toEqual({
      machines: [
        {
          providerId: "azure:///westeurope/m",
          machineName: "m",
          parts: kind === "nics" ? ["NIC m-nic"] : ["disk m-os-disk", "disk m-etcd-3-data-disk"],
        },
      ],
    });
  });

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

  it("does not go round in circles when a page leads to itself", async () => {
    const { arm, url, driver } = await aCloud();
    const nextLink = `${url}/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Compute/virtualMachines?api-version=1&$skiptoken=same`;
    const reply = {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ value: [], nextLink }),
    };
    arm.faults.add({ operation: "VirtualMachines_List", times: 99, end: { kind: "reply", reply } });
    await expect(driver.listMachines?.(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("same page"),
    });
    expect(arm.log.count("VirtualMachines_List")).toBe(2);
  });

  it("finds 1000 machines among as many of another cluster in as many requests as there are pages", async () => {
    const { arm, driver } = await aCloud({ pageSize: 500 });
    await driver.createMachine(aRequest(), aContext());
    const [vm, nic, disk] = [arm.vm("m"), arm.inventory().nics[0], arm.inventory().disks[0]];
    if (nic === undefined || disk === undefined) throw new Error("the first machine is not whole");
    const copy = <Part extends { readonly id: string }>(into: Map<string, Part>, part: Part, change: object): void => {
      const id = part.id.replace(/[^/]+$/, `copy-${into.size}`);
      into.set(id, { ...part, id, ...change });
    };
    for (let index = 1; index < 2_000; index++) {
      const name = index < 1_000 ? `m-${index}` : `foreign-${index}`;
      const tags = index < 1_000 ? { ...vm.tags, [ownerTagKeys.machine]: name } : { "kubernetes.io-cluster-b": "1" };
      copy(arm.world.vms, vm, { name, tags });
      copy(arm.world.nics, nic, { name: `${name}-nic`, tags });
      copy(arm.world.disks, disk, { name: `${name}-os-disk`, tags });
      copy(arm.world.disks, disk, { name: `${name}-0-data-disk`, tags });
    }
    arm.log.clear();
    const listed = await driver.listMachines?.(aRequest(), aContext());
    expect(listed?.machines).toHaveLength(1_000);
    const lists = ["VirtualMachines_List", "NetworkInterfaces_List", "Disks_ListByResourceGroup"];
    expect(lists.map((operation) => arm.log.count(operation))).toEqual([4, 4, 8]);
  });

  it("is shared by classes that ask at the same time", async () => {
    const { arm, driver } = await aCloud();
    await Promise.all(Array.from({ length: 20 }, async () => driver.listMachines?.(aRequest(), aContext())));
    expect(
      arm.log.requests.filter(({ operation }) => operation !== "Token" && operation !== "OpenIdConfiguration"),
    ).toHaveLength(3);
  });
});
