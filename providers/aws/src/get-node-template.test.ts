import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

const template = (spec: Record<string, unknown>, driver: Awaited<ReturnType<typeof aCloud>>["driver"]) =>
  driver.getNodeTemplate?.(aRequest(aMachine("m"), spec), aContext());

describe("the node template of a class", () => {
  it("returns what EC2 knows about type and zone", async () => {
    const { driver } = await aCloud();
    await expect(template({}, driver)).resolves.toEqual({
      nodeTemplate: {
        architecture: "amd64",
        capacity: { cpu: 2, gpu: 0, memory: "8192Mi" },
        instanceType: "m5.large",
        region: "eu-west-1",
        zone: "eu-west-1a",
      },
    });
    await expect(template({ machineType: "p3.2xlarge" }, driver)).resolves.toMatchObject({
      nodeTemplate: { capacity: { cpu: 8, gpu: 1, memory: "62464Mi" } },
    });
    await expect(template({ machineType: "m6g.large" }, driver)).resolves.toMatchObject({
      nodeTemplate: { architecture: "arm64" },
    });
  });

  it("counts the CPUs that the class asks for", async () => {
    const { driver } = await aCloud();
    const cpuOptions = { coreCount: 1, threadsPerCore: 1 };
    await expect(template({ cpuOptions }, driver)).resolves.toMatchObject({ nodeTemplate: { capacity: { cpu: 1 } } });
  });

  it.each<[string, Record<string, unknown>]>([
    ["type", { machineType: "m5.tiny" }],
    ["subnet", { networkInterfaces: [{ subnetID: "subnet-z", securityGroupIDs: ["sg-1"] }] }],
  ])("refuses a %s that does not exist", async (_, spec) => {
    const { driver } = await aCloud();
    await expect(template(spec, driver)).rejects.toMatchObject({ code: "InvalidArgument" });
  });
});
