import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

/** A cloud with the VM of a machine whose object was restored, and so has another UID than the tag of its VM. */
async function aCloudWithVm() {
  const cloud = await aCloud();
  const { providerId } = await cloud.driver.createMachine(aRequest(aMachine("m", { uid: "old" })), aContext());
  cloud.ec2.log.clear();
  return { ...cloud, known: aMachine("m", { uid: "new", providerId }), unknown: aMachine("m", { uid: "new" }) };
}

describe("a machine that was restored under its old name", () => {
  it("keeps the VM that its provider id names, in one request, and does not write to it", async () => {
    const { ec2, driver, known } = await aCloudWithVm();
    const { providerId } = known;
    await expect(driver.getMachineStatus(aRequest(known), aContext())).resolves.toMatchObject({ providerId });
    expect(ec2.log.count()).toBe(1);
    await expect(driver.initializeMachine?.(aRequest(known), aContext())).resolves.toMatchObject({ providerId });
    const unchanged = { providerId, differences: [] };
    await expect(driver.findDrift?.(aRequest(known), aContext())).resolves.toEqual(unchanged);
    expect(new Set(ec2.log.requests.map(({ operation }) => operation))).toEqual(new Set(["DescribeInstances"]));
  });

  it("is deleted with its VM, volumes and interfaces, and again without harm", async () => {
    const { ec2, driver, known } = await aCloudWithVm();
    await driver.deleteMachine(aRequest(known), aContext());
    expect(ec2.inventory()).toEqual({ instances: [], volumes: [], networkInterfaces: [] });
    await expect(driver.deleteMachine(aRequest(known), aContext())).resolves.toEqual({ vm: "ended" });
  });

  it("is listed with the UID of its VM's tag", async () => {
    const { driver, known } = await aCloudWithVm();
    const { providerId } = known;
    const machines = [{ providerId, machineName: "m", machineUid: "old", machineNamespace: "shoot" }];
    await expect(driver.listMachines?.(aRequest(), aContext())).resolves.toEqual({ machines });
  });

  it("is found in the request that it shares with others", async () => {
    const { ec2, driver, known } = await aCloudWithVm();
    const others = Array.from({ length: 20 }, (_, index) => aRequest(aMachine(`n-${index}`)));
    await Promise.all(others.map((request) => driver.createMachine(request, aContext())));
    ec2.log.clear();
    const requests = [aRequest(known), ...others];
    const found = await Promise.all(requests.map((request) => driver.getMachineStatus(request, aContext())));
    expect(found[0]).toMatchObject({ providerId: known.providerId });
    expect(ec2.log.count()).toBe(1);
  });

  it("has no VM without a provider id: the one of that name is of the machine before", async () => {
    const { ec2, driver, unknown } = await aCloudWithVm();
    await expect(driver.getMachineStatus(aRequest(unknown), aContext())).rejects.toMatchObject({ code: "NotFound" });
    await expect(driver.createMachine(aRequest(unknown), aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    await driver.deleteMachine(aRequest(unknown), aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it.each<[string, (tags: Map<string, string>) => void]>([
    ["another namespace", (tags) => tags.set("millwright.dev/namespace", "other")],
    ["another cluster", (tags) => tags.delete("kubernetes.io/cluster/shoot")],
    ["another role", (tags) => tags.delete("kubernetes.io/role/node")],
  ])("does not delete a VM of %s, whatever its id names", async (_, change) => {
    const { ec2, driver, known } = await aCloudWithVm();
    for (const { tags } of ec2.world.instances.values()) change(tags);
    await expect(driver.deleteMachine(aRequest(known), aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("kept"),
    });
    expect(ec2.inventory().instances).toHaveLength(1);
  });
});
