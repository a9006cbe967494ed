import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, type SpecChange } from "./testing/azure-cloud.ts";

describe("the node template of a class", () => {
  it.each<[string, SpecChange, object]>([
    [
      "Standard_D2s_v5",
      {},
      { architecture: "amd64", capacity: { cpu: 2, gpu: 0, memory: "8192Mi" }, zone: "westeurope-1" },
    ],
    [
      "Standard_NC6s_v3",
      {},
      { architecture: "amd64", capacity: { cpu: 6, gpu: 1, memory: "114688Mi" }, zone: "westeurope-1" },
    ],
    [
      "Standard_D2ps_v5",
      { properties: { zone: null, availabilitySet: { id: "/set" } } },
      { architecture: "arm64", capacity: { cpu: 2, gpu: 0, memory: "8192Mi" }, zone: "0" },
    ],
  ])("of size %s is its capacity in Azure", async (vmSize, change, expected) => {
    const { driver } = await aCloud({ pageSize: 2 });
    const properties = { ...change.properties, hardwareProfile: { vmSize } };
    const answer = await driver.getNodeTemplate?.(aRequest(aMachine("m"), { properties }), aContext());
    expect(answer).toEqual({ nodeTemplate: { ...expected, instanceType: vmSize, region: "westeurope" } });
  });

  it("is InvalidArgument for a size that Azure does not know", async () => {
    const { driver } = await aCloud();
    const request = aRequest(aMachine("m"), { properties: { hardwareProfile: { vmSize: "Standard_X" } } });
    await expect(driver.getNodeTemplate?.(request, aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("providerSpec.properties.hardwareProfile.vmSize"),
    });
  });

  it("is asked for once in an hour", async () => {
    const { arm, driver } = await aCloud();
    for (let call = 0; call < 3; call++) await driver.getNodeTemplate?.(aRequest(), aContext());
    expect(arm.log.count("ResourceSkus_List")).toBe(1);
  });
});
