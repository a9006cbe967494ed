import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/azure-cloud.ts";

describe("the status of a machine", () => {
  it("is its VM by name, with the provider id and node name of MCM", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.log.clear();
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toEqual({
      providerId: "azure:///westeurope/m",
      nodeName: "m",
    });
    expect(arm.log.count()).toBe(1);
  });

  it.each([
    ["no VM", {}],
    ["no resource group", { groups: ["net"] }],
  ])("is NotFound when there is %s", async (_, options) => {
    const { driver } = await aCloud(options);
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining('no VM "m" in resource group "shoot"'),
    });
  });

  it("is NotFound while the VM is being deleted", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, deleteMs: 60_000 });
    await driver.createMachine(aRequest(), aContext());
    const deletion = driver.deleteMachine(aRequest(), aContext());
    await expect.poll(() => arm.vm("m").provisioningState).toBe("Deleting");
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("being deleted"),
    });
    await clock.advance(60_000);
    await deletion;
  });

  it("is NotFound while the VM is being created, until its id is stored: it may still come to nothing", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, vmMs: 60_000 });
    const creation = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => arm.inventory().vms.length).toBe(1);
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("still being created"),
    });
    const known = aRequest(aMachine("m", { providerId: "azure:///westeurope/m" }));
    await expect(driver.getMachineStatus(known, aContext())).resolves.toMatchObject({ nodeName: "m" });
    await clock.advance(60_000);
    await creation;
  });

  it("does not return the VM of an earlier machine, or of another owner", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await expect(driver.getMachineStatus(aRequest(aMachine("m", { uid: "new" })), aContext())).rejects.toMatchObject({
      code: "NotFound",
    });
    arm.vm("m").tags = {};
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });

  it("of a machine with a provider id is that VM, also when its tags were removed", async () => {
    const { arm, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    arm.vm("m").tags = {};
    await expect(driver.getMachineStatus(aRequest(aMachine("m", { providerId })), aContext())).resolves.toMatchObject({
      providerId,
    });
  });

  it.each(["stopped", "deallocated"] as const)("is that of a VM that was %s", async (power) => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.vm("m").power = power;
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({ nodeName: "m" });
  });

  it("is that of a VM that runs although a later change of it failed", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const vm = arm.vm("m");
    vm.provisioningState = "Failed";
    vm.failure = { code: "VMExtensionProvisioningError", message: "an extension failed" };
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({ nodeName: "m" });
  });

  it("is NotFound when the VM did not start, with the reason", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const vm = arm.vm("m");
    delete vm.power;
    vm.provisioningState = "Failed";
    vm.failure = { code: "AllocationFailed", message: "no room" };
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("did not start (AllocationFailed)"),
    });
  });

  it("reports that a spot VM was reclaimed", async () => {
    const { arm, driver } = await aCloud();
    const spot = { properties: { priority: "Spot" } };
    await driver.createMachine(aRequest(aMachine("m"), spot), aContext());
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), spot), aContext())).resolves.toBeDefined();
    arm.evict("m");
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), spot), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("was reclaimed"),
    });
  });

  it("reports that reclaimed spot VMs are deleted, if the class requests it", async () => {
    const { arm, driver } = await aCloud();
    const spot = { properties: { priority: "Spot", evictionPolicy: "Delete" } };
    await driver.createMachine(aRequest(aMachine("m"), spot), aContext());
    arm.evict("m");
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), spot), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("takes them back"),
    });
  });

  it("of many machines at once is one list", async () => {
    const { arm, driver } = await aCloud();
    const names = Array.from({ length: 30 }, (_, index) => `m-${index}`);
    await Promise.all(names.map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    arm.log.clear();
    await Promise.all(names.map((name) => driver.getMachineStatus(aRequest(aMachine(name)), aContext())));
    expect(arm.log.requests.map(({ operation }) => operation)).toEqual(["VirtualMachines_List"]);
  });

  it("refuses a provider id that no driver of Azure wrote", async () => {
    const { driver } = await aCloud();
    for (const providerId of ["aws:///eu-west-1/i-1", "azure://westeurope/m", "azure:///westeurope/"]) {
      await expect(driver.getMachineStatus(aRequest(aMachine("m", { providerId })), aContext())).rejects.toMatchObject({
        code: "InvalidArgument",
      });
    }
  });
});
