import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/gcp-cloud.ts";

const providerId = "gce:///my-project/europe-west1-b/m";
const untagged = { tags: ["kubernetes-io-role-node"] };

describe("a class without cluster or role tags", () => {
  it.each<[readonly string[], RegExp]>([
    [[], /^providerSpec\.tags: must have one .*kubernetes-io-cluster-" and one .*kubernetes-io-role-"/],
    [["kubernetes-io-role-node"], /^providerSpec\.tags: must have one .*"kubernetes-io-cluster-" before/],
    [["kubernetes-io-cluster-a"], /^providerSpec\.tags: must have one .*"kubernetes-io-role-" before/],
  ])("creates no VM: %o", async (tags, message) => {
    const { gce, driver } = await aCloud();
    await expect(driver.createMachine(aRequest(aMachine("m"), { tags }), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringMatching(message),
    });
    expect(gce.log.count()).toBe(0);
  });

  it("finds and deletes the VMs that it had before, by their UIDs", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), untagged), aContext())).resolves.toMatchObject({
      providerId,
    });
    await driver.deleteMachine(aRequest(aMachine("m", { providerId }), untagged), aContext());
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
    await driver.deleteMachine(aRequest(aMachine("m"), untagged), aContext());
  });

  it("keeps a VM without a UID, and names the missing labels", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, labels: {} };
    await expect(
      driver.deleteMachine(aRequest(aMachine("m", { providerId }), untagged), aContext()),
    ).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringMatching(/label "millwright-machine-uid"; the class has no cluster and role tags/),
    });
  });
});
