import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aSpec, places } from "./testing/mock-cloud.ts";

describe.each(places)("the checks of a class, %s", (place) => {
  const machineClass = { name: "x", spec: aSpec({ cluster: "shop" }) };

  it("pass where the cloud answers, and create nothing", async () => {
    const { cloud, driver, secret } = await aCloud(place);
    await expect(driver.checkClass?.({ machineClass, secret }, aContext())).resolves.toMatchObject({
      checks: [
        { name: "Credentials", status: "ok", message: 'The cloud lists 0 VMs of cluster "shop".' },
        { name: "Quota", status: "skipped" },
      ],
    });
    expect(cloud.calls.map(({ operation }) => operation)).toEqual(["list"]);
  });

  it("fail where it does not answer, and skip what would need it", async () => {
    const { cloud, driver, secret } = await aCloud(place);
    await cloud.addFault({ operation: "list", code: "Unavailable", message: "the cloud is down" });
    await expect(driver.checkClass?.({ machineClass, secret }, aContext())).resolves.toMatchObject({
      checks: [
        { name: "Credentials", status: "failed", message: "the cloud is down" },
        { name: "Quota", status: "skipped", message: expect.stringContaining('"Credentials" failed') },
      ],
    });
  });
});

it("the checks of a class fail at the credentials when the token of the secret is wrong", async () => {
  const { driver, secret } = await aCloud("over HTTP");
  const wrong = { ...secret, token: Secret.of("guessed") };
  const request = { machineClass: { name: "x", spec: aSpec() }, secret: wrong };
  const response = await driver.checkClass?.(request, aContext());
  expect(response?.checks[0]).toMatchObject({ name: "Credentials", status: "failed" });
  expect(JSON.stringify(response)).not.toContain("guessed");
});
