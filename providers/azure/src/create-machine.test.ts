import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/azure-cloud.ts";
import { ownerTagKeys } from "./vm/owner-tags.ts";

describe("creating a machine", () => {
  it("makes one VM with the names of MCM, and the tags of its owner on everything from the first moment", async () => {
    const { arm, driver } = await aCloud({ vmMs: 20, partMs: 10 });
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toEqual({
      providerId: "azure:///westeurope/m",
      nodeName: "m",
    });
    const { vms, nics, disks } = arm.inventory();
    expect([vms, nics, disks].map((found) => found.map(({ name }) => name))).toEqual([["m"], ["m-nic"], ["m-os-disk"]]);
    const owner = {
      "kubernetes.io-cluster-shoot": "1",
      "kubernetes.io-role-node": "1",
      [ownerTagKeys.managedBy]: "millwright",
      [ownerTagKeys.namespace]: "shoot",
      [ownerTagKeys.machine]: "m",
      [ownerTagKeys.machineUid]: "uid-of-m",
      [ownerTagKeys.machineClass]: "pool",
      [ownerTagKeys.token]: "token-of-uid-of-m",
    };
    for (const { tags } of [...vms, ...nics, ...disks]) expect(tags).toMatchObject(owner);
  });

  it.each([["a".repeat(65)], ["under_score"], ["-m"]])("refuses a machine that Azure cannot name: %s", async (name) => {
    const { arm, driver } = await aCloud();
    await expect(driver.createMachine(aRequest(aMachine(name)), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    expect(arm.log.count()).toBe(0);
  });

  it("returns the same id for the same request, and creates one VM for twenty equal concurrent requests", async () => {
    const { arm, driver } = await aCloud({ vmMs: 30 });
    const made = await Promise.all(Array.from({ length: 20 }, () => driver.createMachine(aRequest(), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId))).toEqual(new Set(["azure:///westeurope/m"]));
    await driver.createMachine(aRequest(), aContext());
    expect(arm.inventory().vms).toHaveLength(1);
    expect(arm.inventory().nics).toHaveLength(1);
  });

  it.each(["NetworkInterfaces_CreateOrUpdate", "VirtualMachines_CreateOrUpdate", "NetworkInterfaces_Get"])(
    "makes one VM although answers of %s were lost",
    async (operation) => {
      for (const end of [
        { kind: "reset" },
        { kind: "truncate" },
        { kind: "reply", reply: { status: 502, body: "<html>" } },
      ] as const) {
        const { arm, driver } = await aCloud({ vmMs: 10 });
        arm.faults.add({ operation, end, afterAcceptance: true, times: 3 });
        const outcome: unknown = await driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
        // The SDK repeats by itself what it may; whatever it makes of it, the next call finds the one VM.
        expect(outcome instanceof Error ? Reflect.get(outcome, "code") : "Unavailable").toMatch(/Unavailable|Aborted/);
        arm.faults.clear();
        await driver.createMachine({ ...aRequest(), userData: Secret.of("another token") }, aContext());
        expect(arm.inventory()).toMatchObject({ vms: [{ name: "m" }], nics: [{ name: "m-nic" }] });
        expect(arm.inventory().disks).toHaveLength(1);
      }
    },
  );
});
