import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/gcp-cloud.ts";

describe("the capacity of a class", () => {
  it.each<[string, object, object]>([
    ["an ordinary type", {}, { cpu: 2, gpu: 0, memory: "8192Mi" }],
    ["a type with accelerators", { machineType: "a2-highgpu-1g" }, { cpu: 12, gpu: 1, memory: "87040Mi" }],
    [
      "accelerators of the class",
      {
        machineType: "n1-standard-2",
        gpu: { acceleratorType: "nvidia-tesla-t4", count: 2 },
        scheduling: { onHostMaintenance: "TERMINATE" },
      },
      { cpu: 2, gpu: 2, memory: "7680Mi" },
    ],
  ])("is read from the cloud: %s", async (_, spec, capacity) => {
    const { driver } = await aCloud();
    const request = aRequest(aMachine("m"), { ...spec });
    await expect(driver.getNodeTemplate?.(request, aContext())).resolves.toEqual({
      nodeTemplate: {
        architecture: "amd64",
        capacity,
        instanceType: request.machineClass.spec.machineType,
        region: "europe-west1",
        zone: "europe-west1-b",
      },
    });
  });

  it.each([{ machineType: "x9" }, { machineType: "t2a-standard-2", zone: "europe-west1-c" }])(
    "of a type that the zone does not have is InvalidArgument: %o",
    async (spec) => {
      const { driver } = await aCloud();
      await expect(driver.getNodeTemplate?.(aRequest(aMachine("m"), spec), aContext())).rejects.toMatchObject({
        code: "InvalidArgument",
        message: expect.stringContaining(`providerSpec.machineType: Compute Engine has no "${spec.machineType}"`),
      });
    },
  );
});
