import type { Driver } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import type { ArmEmulator } from "@millwright/emulators/arm";
import { describe, expect, it } from "vitest";
import type { AzureSpec } from "../spec/spec.ts";
import { aCloud, aContext, aMachine, aRequest, nothing, plainSpec } from "../testing/azure-cloud.ts";

/** Makes a VM, and is stopped when it is there and not ready. */
async function stopWhileMaking(arm: ArmEmulator, driver: Driver<AzureSpec>): Promise<void> {
  const stop = new AbortController();
  const creation = driver.createMachine(aRequest(), aContext(stop.signal));
  await expect.poll(() => arm.inventory().vms.length).toBe(1);
  stop.abort(new Error("stopped"));
  await expect(creation).rejects.toMatchObject({ code: "Aborted" });
}

describe("a VM or NIC that is there already", () => {
  it("keeps a VM that was created from another spec, for an earlier machine, or by another owner", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const before = arm.vm("m").vmId;
    const refused = { code: "AlreadyExists" };
    const other = { properties: { hardwareProfile: { vmSize: "Standard_D4s_v5" } } };
    await expect(driver.createMachine(aRequest(aMachine("m"), other), aContext())).rejects.toMatchObject(refused);
    await expect(driver.createMachine(aRequest(aMachine("m", { uid: "new" })), aContext())).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("earlier machine"),
    });
    arm.vm("m").tags = { owner: "another" };
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("another owner"),
    });
    expect(arm.vm("m").vmId).toBe(before);
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(1);
  });

  it("adopts a VM of MCM, which has no hash of its spec", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.vm("m").tags = { ...plainSpec.tags };
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ nodeName: "m" });
  });

  it("keeps a NIC of another owner", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.world.vms.clear();
    const [nic] = arm.inventory().nics;
    if (nic !== undefined) nic.tags = {};
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining('NIC "m-nic" of another owner'),
    });
    expect(arm.log.count("NetworkInterfaces_CreateOrUpdate")).toBe(1);
  });

  it("goes on where a try that was stopped left off, and waits for the VM that it began", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, vmMs: 60_000 });
    await stopWhileMaking(arm, driver);
    arm.log.clear();
    const second = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => arm.log.count("VirtualMachines_Get")).toBeGreaterThan(2);
    expect(arm.vm("m").provisioningState).toBe("Creating");
    await clock.advance(60_000);
    await second;
    expect(arm.vm("m").provisioningState).toBe("Succeeded");
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(0);
  });

  it("whose creation ends for lack of capacity, and whose try did not live to see it, is cleaned up by the next one", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, vmMs: 60_000 });
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    await stopWhileMaking(arm, driver);
    arm.log.clear();
    const second = driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    await expect.poll(() => arm.log.count("VirtualMachines_Get")).toBeGreaterThan(2);
    await clock.advance(60_000);
    expect(await second).toMatchObject({ code: "ResourceExhausted", tokenIsSpent: true });
    expect(arm.inventory()).toEqual(nothing);
    arm.world.capacity.clear();
    const third = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => arm.inventory().vms.length).toBe(1);
    await clock.advance(60_000);
    await third;
    expect(arm.vm("m").power).toBe("running");
  });

  it("whose request was accepted and never answered is taken by the next try", async () => {
    const { arm, driver } = await aCloud();
    arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", afterAcceptance: true, end: { kind: "hang" } });
    await stopWhileMaking(arm, driver);
    const { vmId } = arm.vm("m");
    await driver.createMachine(aRequest(), aContext());
    expect(arm.inventory().vms.map((vm) => vm.vmId)).toEqual([vmId]);
  });

  it("whose creation was canceled is replaced by a new one", async () => {
    const clock = createVirtualClock();
    const { arm, driver } = await aCloud({ clock, vmMs: 60_000 });
    const first = driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    await expect.poll(() => arm.inventory().vms.length).toBe(1);
    const { vmId } = arm.vm("m");
    arm.cancel("m");
    expect(await first).toMatchObject({ code: "Canceled" });
    const second = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => arm.inventory().vms.map((vm) => vm.vmId === vmId)).toEqual([false]);
    await clock.advance(60_000);
    await second;
    expect(arm.vm("m").power).toBe("running");
  });

  it("as a spot VM that was reclaimed before its machine came up makes way for a new one", async () => {
    const { arm, driver } = await aCloud();
    const spot = aRequest(aMachine("m"), { properties: { priority: "Spot" } });
    await driver.createMachine(spot, aContext());
    const before = arm.vm("m").vmId;
    arm.evict("m");
    await driver.createMachine(spot, aContext());
    expect(arm.vm("m").vmId).not.toBe(before);
    expect(arm.inventory().disks).toHaveLength(1);
  });
});
