import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

const list = async (driver: Awaited<ReturnType<typeof aCloud>>["driver"], context = aContext()) =>
  (await driver.listMachines?.(aRequest(), context))?.machines ?? [];

describe("listing machines", () => {
  it("lists what is there for this cluster and role, and nothing else", async () => {
    const { driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(aMachine("a")), aContext());
    for (const tags of [
      { "kubernetes.io/cluster/other": "1", "kubernetes.io/role/node": "1" },
      { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/bastion": "1" },
    ]) {
      await driver.createMachine(aRequest(aMachine(`other-${Object.keys(tags).join().length}`), { tags }), aContext());
    }
    expect(await list(driver)).toEqual([
      { providerId, machineName: "a", machineUid: "uid-of-a", machineNamespace: "shoot" },
    ]);
  });

  it("lists VMs that are being made or stopped, and not those that are going", async () => {
    const { ec2, driver } = await aCloud({ pendingMs: 60_000, shutdownMs: 60_000 });
    for (const name of ["a", "b", "c"]) await driver.createMachine(aRequest(aMachine(name)), aContext());
    const [, second, third] = [...ec2.world.instances.keys()];
    ec2.stop(second ?? "");
    ec2.reclaim(third ?? "");
    expect((await list(driver)).map(({ machineName }) => machineName)).toEqual(["a", "b"]);
  });

  it("lists the VMs of MCM's driver, which have no owner tags", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(aMachine("a")), aContext());
    for (const { tags } of ec2.world.instances.values())
      for (const key of ["machine-uid", "namespace"]) tags.delete(`millwright.dev/${key}`);
    expect(await list(driver)).toEqual([{ providerId, machineName: "a" }]);
  });

  it("skips VMs without a name with a warning: they would be deleted as orphans", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    for (const { tags } of ec2.world.instances.values()) tags.delete("Name");
    const context = aContext();
    expect(await list(driver, context)).toEqual([]);
    expect(context.lines).toEqual([expect.stringContaining("no tag Name")]);
  });

  it("lists 2500 VMs in pages, once each, quickly", { timeout: 20_000 }, async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m-0")), aContext());
    const [first] = ec2.world.instances.values();
    if (first === undefined) throw new Error("there is no VM");
    for (let made = 1; made < 2_500; made++) {
      const id = `i-${String(made).padStart(17, "0")}`;
      const tags = new Map(first.tags).set("Name", `m-${made}`);
      ec2.world.instances.set(id, { ...first, id, tags, sequence: ec2.world.nextSequence() });
    }
    ec2.log.clear();
    const found = await list(driver);
    expect(new Set(found.map(({ machineName }) => machineName)).size).toBe(2_500);
    expect(ec2.log.count("DescribeInstances")).toBe(3);
  });

  it("fails when a page fails, and when a page comes twice: a list that was cut short would let a VM leak", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const refuse = { kind: "refuse", refusal: { code: "InternalError" } } as const;
    ec2.faults.add({ operation: "DescribeInstances", times: 3, end: refuse });
    await expect(list(driver)).rejects.toMatchObject({ code: "Unavailable" });
    const body = `<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet/><nextToken>again</nextToken></DescribeInstancesResponse>`;
    const reply = { status: 200, headers: { "content-type": "text/xml" }, body };
    ec2.faults.add({ operation: "DescribeInstances", times: 9, end: { kind: "reply", reply } });
    await expect(list(driver)).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("twice"),
    });
  });

  it("makes one list for classes that ask together", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    ec2.log.clear();
    const request = aRequest();
    const classes = Array.from({ length: 10 }, (_, index) => ({ ...request.machineClass, name: `pool-${index}` }));
    const lists = await Promise.all(
      classes.map(async (machineClass) => driver.listMachines?.({ ...request, machineClass }, aContext())),
    );
    expect(lists.map((found) => found?.machines.length)).toEqual(classes.map(() => 1));
    expect(ec2.log.count()).toBe(1);
  });

  it("takes the first of several keys that fit, in the alphabet", async () => {
    const { ec2, driver } = await aCloud();
    const tags = { "z/kubernetes.io/cluster/b": "1", "a/kubernetes.io/cluster/a": "1", "kubernetes.io/role/node": "1" };
    await driver.listMachines?.(aRequest(aMachine("m"), { tags }), aContext());
    expect(ec2.log.requests[0]?.subjects).toContain("a/kubernetes.io/cluster/a");
  });
});
