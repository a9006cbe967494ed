import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

describe("the status of a machine", () => {
  it("finds the VM by its tags, and by its id, in one request", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId, nodeName } = await driver.createMachine(aRequest(), aContext());
    ec2.log.clear();
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({ providerId, nodeName });
    await expect(driver.getMachineStatus(aRequest(aMachine("m", { providerId })), aContext())).resolves.toMatchObject({
      providerId,
      nodeName,
    });
    expect(ec2.log.count()).toBe(2);
    expect(ec2.log.requests[0]?.body).not.toContain("InstanceId.1");
  });

  it("returns addresses", async () => {
    const { driver } = await aCloud();
    const networkInterfaces = [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"], associatePublicIPAddress: true }];
    const request = aRequest(aMachine("m"), { networkInterfaces });
    const { addresses } = await driver.createMachine(request, aContext());
    expect(addresses?.map(({ type }) => type)).toEqual(["InternalIP", "ExternalIP", "InternalDNS"]);
  });

  it("does not find what was never made", async () => {
    const { driver } = await aCloud();
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: 'there is no VM for machine "m"',
    });
  });

  it.each(["pending", "running", "stopped"])("finds a VM that is %s", async (state) => {
    const { ec2, driver } = await aCloud(state === "pending" ? { pendingMs: 60_000 } : {});
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    if (state === "stopped") ec2.stop(providerId.split("/").at(-1) ?? "");
    expect(ec2.inventory().instances).toMatchObject([{ state }]);
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({ providerId });
  });

  it("reports that a spot VM was reclaimed, with and without the id", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(aMachine("m"), { spotPrice: "" }), aContext());
    ec2.reclaim(providerId.split("/").at(-1) ?? "");
    for (const machine of [aMachine("m"), aMachine("m", { providerId })]) {
      await expect(driver.getMachineStatus(aRequest(machine), aContext())).rejects.toMatchObject({
        code: "NotFound",
        message: expect.stringContaining("was reclaimed"),
      });
    }
  });

  it("does not take a VM that is going for one that is there", async () => {
    const { ec2, driver } = await aCloud({ shutdownMs: 60_000 });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const machine = aMachine("m", { providerId });
    for (const vm of ec2.world.instances.values()) vm.terminatedAtMs = ec2.world.nowMs();
    await expect(driver.getMachineStatus(aRequest(machine), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("shutting-down"),
    });
  });

  it("names all VMs of a machine that has several", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [first] = ec2.world.instances.values();
    if (first === undefined) throw new Error("there is no VM");
    ec2.world.instances.set("i-0000000000000000f", { ...first, id: "i-0000000000000000f", sequence: 99 });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "OutOfRange",
      message: expect.stringMatching(new RegExp(`i-0000000000000000f, aws:///eu-west-1/${first.id}`)),
    });
  });

  it("still finds the VM with the id when someone has taken its tags away", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    for (const { tags } of ec2.world.instances.values()) tags.clear();
    await expect(driver.getMachineStatus(aRequest(aMachine("m", { providerId })), aContext())).resolves.toMatchObject({
      providerId,
    });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });

  it("does not take the VM of an earlier machine of the same name", async () => {
    const { driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await expect(
      driver.getMachineStatus(aRequest(aMachine("m", { uid: "another" })), aContext()),
    ).rejects.toMatchObject({ code: "NotFound" });
  });

  it("names the VM of a machine when it is not the one with its id", async () => {
    const { driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const machine = aMachine("m", { providerId: "aws:///eu-west-1/i-0123456789abcdef0" });
    await expect(driver.getMachineStatus(aRequest(machine), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringMatching(/no VM i-0123456789abcdef0; it has i-/),
    });
  });

  it("asks once for machines that are asked for together", async () => {
    const { ec2, driver } = await aCloud();
    const names = Array.from({ length: 30 }, (_, index) => `m-${index}`);
    const made = await Promise.all(names.map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    ec2.log.clear();
    const found = await Promise.all(names.map((name) => driver.getMachineStatus(aRequest(aMachine(name)), aContext())));
    expect(found.map(({ providerId }) => providerId)).toEqual(made.map(({ providerId }) => providerId));
    expect(ec2.log.count()).toBe(1);
  });
});
