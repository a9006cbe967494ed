import { describe, expect, it } from "vitest";
import { ownerTagKeys } from "./owner-tags.ts";
import { aCloud, aContext, aMachine, aSpec, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("creating a machine, %s", (place) => {
  it("gives a provider id and a node name, and the VM is found and listed", async () => {
    const { driver, secret, create, status } = await aCloud(place);
    const created = await create(a);
    expect(created.providerId).toMatch(/^mock:\/\/\/local\/i-[0-9a-f]{12}$/);
    expect(created.nodeName).toBe("pool-a-1");
    await expect(status(a)).resolves.toMatchObject(created);
    await expect(
      driver.listMachines?.({ machineClass: { name: "example", spec: aSpec() }, secret }, aContext()),
    ).resolves.toEqual({
      machines: [
        {
          providerId: created.providerId,
          machineName: "pool-a-1",
          machineUid: "uid-of-pool-a-1",
          machineNamespace: "shoot",
        },
      ],
    });
  });

  it("answers the same request again with the same VM, also with renewed user data", async () => {
    const { cloud, create } = await aCloud(place);
    const first = await create(a);
    await expect(create(a, aSpec(), "#!/bin/sh with another token")).resolves.toEqual(first);
    expect(cloud.vms()).toHaveLength(1);
  });

  it("makes one VM out of twenty requests at once", async () => {
    const { cloud, create } = await aCloud(place);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(a)));
    expect(new Set(answers.map((answer) => answer.providerId)).size).toBe(1);
    expect(cloud.vms()).toHaveLength(1);
  });

  it("makes one VM when the reply was lost and the request comes again", async () => {
    const { cloud, create } = await aCloud(place);
    await cloud.addFault({ operation: "create", code: "Unavailable", afterAcceptance: true });
    await expect(codeOf(create(a))).resolves.toBe("Unavailable");
    expect(cloud.vms()).toHaveLength(1);
    await create(a);
    expect(cloud.vms()).toHaveLength(1);
  });

  it("refuses another spec for the same machine and leaves its VM untouched", async () => {
    const { cloud, create } = await aCloud(place);
    const { providerId } = await create(a);
    await expect(codeOf(create(a, aSpec({ machineType: "large" })))).resolves.toBe("AlreadyExists");
    expect(cloud.vms()).toMatchObject([{ providerId, machineType: "small" }]);
  });

  it("refuses the name of an earlier machine whose VM is still there", async () => {
    const { cloud, create } = await aCloud(place);
    await create(a);
    await expect(codeOf(create({ ...a, uid: "another" }))).resolves.toBe("AlreadyExists");
    expect(cloud.vms()).toHaveLength(1);
  });

  it("waits for a VM of the same machine that is still going", async () => {
    const { cloud, create } = await aCloud(place);
    await create(a);
    await cloud.powerVm(a.name, "reclaim");
    await expect(codeOf(create(a))).resolves.toBe("Aborted");
    await expect(codeOf(create({ ...a, uid: "another" }))).resolves.toBe("Aborted");
    await cloud.powerVm(a.name, "kill");
    await create(a);
    expect(cloud.vms()).toHaveLength(1);
  });

  it("tags the VM with its owner from the first moment, whatever labels the spec has", async () => {
    const { cloud, create } = await aCloud(place);
    await create(a, aSpec({ labels: { [ownerTagKeys.cluster]: "stolen", tier: "web" }, cluster: "eu" }));
    expect(cloud.vms()[0]).toMatchObject({
      labels: { tier: "web" },
      tags: {
        [ownerTagKeys.managedBy]: "millwright",
        [ownerTagKeys.cluster]: "eu",
        [ownerTagKeys.namespace]: "shoot",
        [ownerTagKeys.machineName]: "pool-a-1",
        [ownerTagKeys.machineUid]: "uid-of-pool-a-1",
        [ownerTagKeys.machineClass]: "example",
      },
    });
  });

  it.each<[string, Uint8Array]>([
    ["no byte", new Uint8Array()],
    ["binary and CRLF", Uint8Array.of(0, 255, 13, 10, 0, 254)],
    ["the largest size", new Uint8Array(256 * 1024).fill(7)],
  ])("delivers user data of %s byte for byte", async (_what, userData) => {
    const { cloud, create } = await aCloud(place);
    await create(a, aSpec(), userData);
    await expect(cloud.readUserData(a.name)).resolves.toEqual(userData);
  });

  it("refuses user data that is too large", async () => {
    const { create } = await aCloud(place);
    await expect(codeOf(create(a, aSpec(), new Uint8Array(256 * 1024 + 1)))).resolves.toBe("InvalidArgument");
  });

  it.each(["a", "a".repeat(63), "a.b-c.d"])("takes the machine name %s", async (name) => {
    const { create, status } = await aCloud(place);
    await create(aMachine(name));
    await expect(status(aMachine(name))).resolves.toMatchObject({ nodeName: name });
  });

  it("shortens the host name of a machine whose name is longer than a label value", async () => {
    const { create } = await aCloud(place);
    const names = await Promise.all(
      ["1", "2"].map(async (end) => (await create(aMachine(`${"a.".repeat(100)}${end}`))).nodeName),
    );
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])$/);
  });

  it("reports a full quota as ResourceExhausted, with the delay that the cloud asks for", async () => {
    const { cloud, create } = await aCloud(place);
    await cloud.addFault({
      operation: "create",
      code: "ResourceExhausted",
      message: "no small in a",
      retryAfterMs: 9000,
    });
    await expect(create(a)).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: "no small in a",
      retryAfterMs: 9000,
    });
    await Promise.all(Array.from({ length: 40 }, (_, index) => create(aMachine(`m-${index}`))));
    await expect(codeOf(create(a))).resolves.toBe("ResourceExhausted");
  });
});
