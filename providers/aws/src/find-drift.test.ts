import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSpec } from "./testing/aws-cloud.ts";

const rich = {
  keyName: "key",
  ebsOptimized: true,
  spotPrice: "",
  srcAndDstChecksEnabled: false,
  instanceMetadataOptions: { httpTokens: "required", httpPutResponseHopLimit: 2 },
  networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-2", "sg-1"] }],
};

describe("drift", () => {
  it.each([
    ["a plain class", {}],
    ["a class with many fields", rich],
  ])("is none right after a creation from %s", async (_, spec) => {
    const { driver } = await aCloud();
    const request = aRequest(aMachine("m"), spec);
    const { providerId } = await driver.createMachine(request, aContext());
    await driver.initializeMachine?.(request, aContext());
    await expect(driver.findDrift?.(request, aContext())).resolves.toEqual({ providerId, differences: [] });
  });

  it("is none for a fallback of the class", async () => {
    const { ec2, driver } = await aCloud();
    ec2.world.capacity.set("m5.large", 0);
    const request = aRequest(aMachine("m"), { fallbacks: [{ machineType: "m5.xlarge", subnetID: "subnet-b" }] });
    await driver.createMachine(request, aContext());
    await expect(driver.findDrift?.(request, aContext())).resolves.toMatchObject({ differences: [] });
  });

  it("names every field in which class and VM differ, in their order", async () => {
    const { driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), rich), aContext());
    const changed = aRequest(aMachine("m"), {
      ami: "ami-2",
      machineType: "m5.xlarge",
      iam: { name: "others" },
      instanceMetadataOptions: { httpTokens: "optional" },
      networkInterfaces: [
        { subnetID: "subnet-b", securityGroupIDs: ["sg-1"] },
        { subnetID: "subnet-b", securityGroupIDs: ["sg-1"] },
      ],
      tags: { ...plainSpec.tags, team: "a" },
    });
    const { differences = [] } = (await driver.findDrift?.(changed, aContext())) ?? {};
    expect(differences).toEqual([
      { field: "ami", wanted: "ami-2", found: "ami-1" },
      { field: "iam.name", wanted: "others", found: "nodes" },
      { field: "instanceMetadataOptions.httpTokens", wanted: "optional", found: "required" },
      { field: "machineType", wanted: "m5.xlarge", found: "m5.large" },
      { field: "networkInterfaces[0].securityGroupIDs", wanted: "sg-1", found: "sg-1,sg-2" },
      { field: "networkInterfaces[0].subnetID", wanted: "subnet-b", found: "subnet-a" },
      { field: "networkInterfaces[1]", wanted: "subnet-b", found: "" },
      { field: "spotPrice", wanted: "", found: "spot" },
      { field: "tags.team", wanted: "a", found: "" },
    ]);
  });

  it("sees a tag that someone has changed, and a source check that someone has switched on", async () => {
    const { ec2, driver } = await aCloud();
    const request = aRequest(aMachine("m"), { srcAndDstChecksEnabled: false });
    await driver.createMachine(request, aContext());
    for (const { tags } of ec2.world.instances.values()) tags.set("kubernetes.io/role/node", "2");
    await expect(driver.findDrift?.(request, aContext())).resolves.toMatchObject({
      differences: [
        { field: "networkInterfaces[0].srcAndDstChecksEnabled", wanted: "false", found: "true" },
        { field: "tags.kubernetes.io/role/node", wanted: "1", found: "2" },
      ],
    });
  });

  it("is not asked about without a VM", async () => {
    const { driver } = await aCloud();
    await expect(driver.findDrift?.(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });
});
