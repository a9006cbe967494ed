import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, nothing, plainProperties, sentBody } from "../testing/azure-cloud.ts";

const { storageProfile } = plainProperties;

describe("the marketplace", () => {
  const image = (more: object = {}) => ({
    properties: {
      storageProfile: { ...storageProfile, imageReference: { urn: "kinvolk:flatcar:stable:4081.2.0", ...more } },
    },
  });

  it("gets the terms of a plan accepted, once, and the plan goes with the VM", async () => {
    const { arm, driver } = await aCloud();
    await Promise.all(
      ["m", "n", "o"].map((name) => driver.createMachine(aRequest(aMachine(name), image()), aContext())),
    );
    expect(sentBody(arm, "VirtualMachines_CreateOrUpdate")).toMatchObject({
      plan: { name: "stable", product: "flatcar", publisher: "kinvolk" },
      properties: {
        storageProfile: {
          imageReference: { publisher: "kinvolk", offer: "flatcar", sku: "stable", version: "4081.2.0" },
        },
      },
    });
    const counts = ["VirtualMachineImages_Get", "MarketplaceAgreements_Get", "MarketplaceAgreements_Create"];
    expect(counts.map((operation) => arm.log.count(operation))).toEqual([1, 1, 1]);
  });

  it("is not requested if the class disables it, or the image has no plan", async () => {
    const { arm, driver } = await aCloud();
    const skip = aRequest(aMachine("m"), image({ skipMarketplaceAgreement: true }));
    await expect(driver.createMachine(skip, aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("VMMarketplaceInvalidInput"),
    });
    const ubuntu = { urn: "canonical:ubuntu:24_04:latest", skipMarketplaceAgreement: true };
    await driver.createMachine(aRequest(aMachine("o"), image(ubuntu)), aContext());
    expect(arm.log.count("VirtualMachineImages_Get")).toBe(0);
    await driver.createMachine(aRequest(aMachine("n"), image({ urn: "canonical:ubuntu:24_04:latest" })), aContext());
    expect(arm.log.count("MarketplaceAgreements_Get")).toBe(0);
  });

  it("does not know an image: nothing is made", async () => {
    const { arm, driver } = await aCloud();
    await expect(
      driver.createMachine(aRequest(aMachine("m"), image({ urn: "a:b:c:d" })), aContext()),
    ).rejects.toMatchObject({ code: "InvalidArgument", message: expect.stringContaining('no image "a:b:c:d"') });
    expect(arm.inventory()).toEqual(nothing);
  });

  it.each(["VirtualMachineImages_Get", "MarketplaceAgreements_Get", "MarketplaceAgreements_Create"])(
    "fails at %s: nothing is made",
    async (operation) => {
      const { arm, driver } = await aCloud();
      arm.faults.add({ operation, times: 9, end: { kind: "refuse", refusal: { code: "InternalServerError" } } });
      await expect(driver.createMachine(aRequest(aMachine("m"), image()), aContext())).rejects.toMatchObject({
        code: "Unavailable",
      });
      expect(arm.inventory()).toEqual(nothing);
    },
  );
});
