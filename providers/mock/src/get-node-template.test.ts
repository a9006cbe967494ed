import { describe, expect, it } from "vitest";
import { aCloud, aContext, aSpec, places } from "./testing/mock-cloud.ts";

describe.each(places)("the capacity of a class, %s", (place) => {
  it("returns the capacity of a node of a class", async () => {
    const { driver, secret } = await aCloud(place);
    const machineClass = { name: "x", spec: aSpec({ machineType: "medium", zone: "local-b" }) };
    await expect(driver.getNodeTemplate?.({ machineClass, secret }, aContext())).resolves.toEqual({
      nodeTemplate: {
        capacity: { cpu: "2", memory: "8Gi", gpu: 0 },
        instanceType: "medium",
        region: "local",
        zone: "local-b",
      },
    });
  });
});
