import { readSpecOfVm } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSpec } from "./testing/aws-cloud.ts";

type Cloud = Awaited<ReturnType<typeof aCloud>>;

/** A request with a class as the host reads it for a VM that exists. */
async function requestWith(driver: Cloud["driver"], providerSpec: unknown, machine = aMachine("m")) {
  const read = await readSpecOfVm(driver, { providerSpec });
  return read.ok ? { ...aRequest(machine), machineClass: { name: "pool", spec: read.spec } } : undefined;
}

const located = { region: plainSpec.region, tags: plainSpec.tags };

describe("a class that was broken after its VM was created", () => {
  it.each<[string, object]>([
    ["has nothing but what locates the VM", located],
    [
      "has other fields that are invalid",
      Object.fromEntries(Object.keys(plainSpec).map((key) => [key, key in located ? Reflect.get(located, key) : 7])),
    ],
    ["has tags that EC2 would reject", { ...located, tags: { ...plainSpec.tags, long: "x".repeat(300), "": 7 } }],
  ])("finds and deletes it: it %s", async (_, providerSpec) => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const unknown = await requestWith(driver, providerSpec);
    const known = await requestWith(driver, providerSpec, aMachine("m", { providerId }));
    if (unknown === undefined || known === undefined) throw new Error("the class is not read");
    for (const request of [unknown, known])
      expect(await driver.getMachineStatus(request, aContext())).toMatchObject({ providerId });
    await driver.deleteMachine(known, aContext());
    expect(ec2.inventory()).toEqual({ instances: [], volumes: [], networkInterfaces: [] });
  });

  it.each<[string, object]>([
    ["its region", { region: undefined }],
    ["a region that is one", { region: "moon" }],
    ["tags", { tags: undefined }],
    ["the tags of its cluster", { tags: { "kubernetes.io/role/node": "1" } }],
  ])("is not read without %s: the VM would be looked for in the wrong place", async (_, change) => {
    const { driver } = await aCloud();
    expect(await requestWith(driver, { ...located, ...change })).toBeUndefined();
  });
});
