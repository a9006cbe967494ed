import { Secret } from "@millwright/core";
import { createSkippingClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";
import { ownerTagKeys } from "./vm/owner-tags.ts";

describe("creating a machine", () => {
  it("makes one VM with the provider id and node name of MCM, and the tags of its owner from the first moment", async () => {
    const { ec2, driver } = await aCloud();
    const made = await driver.createMachine(aRequest(), aContext());
    const [vm] = ec2.inventory().instances;
    expect(made).toMatchObject({ providerId: `aws:///eu-west-1/${vm?.id}`, nodeName: vm?.privateDnsName });
    const owner = {
      "kubernetes.io/cluster/shoot": "1",
      "kubernetes.io/role/node": "1",
      Name: "m",
      [ownerTagKeys.managedBy]: "millwright",
      [ownerTagKeys.namespace]: "shoot",
      [ownerTagKeys.machineUid]: "uid-of-m",
      [ownerTagKeys.machineClass]: "pool",
      [ownerTagKeys.token]: "token-of-uid-of-m",
    };
    expect(Object.fromEntries(vm?.tags ?? [])).toMatchObject(owner);
    const { volumes, networkInterfaces } = ec2.inventory();
    for (const { tags } of [...volumes, ...networkInterfaces]) expect(Object.fromEntries(tags)).toMatchObject(owner);
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({
      providerId: made.providerId,
      nodeName: made.nodeName,
      initialized: true,
    });
  });

  it("returns the same id for the same request", async () => {
    const { ec2, driver } = await aCloud();
    const first = await driver.createMachine(aRequest(), aContext());
    const second = await driver.createMachine(aRequest(), aContext());
    expect(second.providerId).toBe(first.providerId);
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("makes one VM of twenty equal requests at once", async () => {
    const { ec2, driver } = await aCloud();
    const made = await Promise.all(Array.from({ length: 20 }, () => driver.createMachine(aRequest(), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(1);
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("leaves a VM alone that was made from another spec", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const other = aRequest(aMachine("m"), { machineType: "m5.xlarge" });
    await expect(driver.createMachine(other, aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    await expect(driver.createMachine({ ...other, idempotencyToken: "other" }, aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
    });
    expect(ec2.inventory().instances).toMatchObject([{ instanceType: "m5.large" }]);
  });

  it("does not take the VM of an earlier machine of the same name", async () => {
    const { driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await expect(driver.createMachine(aRequest(aMachine("m", { uid: "another" })), aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining("earlier machine"),
    });
  });

  it.each([
    ["reset after the request was accepted", { kind: "reset" } as const, true],
    ["half an answer", { kind: "truncate" } as const, false],
    [
      "a proxy's page after the request was accepted",
      { kind: "reply", reply: { status: 502, body: "<html>" } } as const,
      true,
    ],
  ])("makes one VM although the answer was lost: %s", async (_, end, afterAcceptance) => {
    const { ec2, driver } = await aCloud();
    ec2.faults.add({ operation: "RunInstances", end, afterAcceptance, times: 3 });
    const outcome = await driver.createMachine(aRequest(), aContext()).then(
      () => "made",
      (error: unknown) => (error instanceof Error ? Reflect.get(error, "code") : error),
    );
    // The SDK repeats by itself what it may; whatever it makes of it, the next call finds the one VM.
    expect(["made", "Unavailable", "DeadlineExceeded"]).toContain(outcome);
    ec2.faults.clear();
    const made = await driver.createMachine(aRequest(), aContext());
    expect(ec2.inventory().instances.map(({ id }) => `aws:///eu-west-1/${id}`)).toEqual([made.providerId]);
  });

  it("finds its VM when the user data has changed since, as a new bootstrap token does, also before it can be seen", async () => {
    const { ec2, driver } = await aCloud({ visibilityMs: 150 });
    ec2.faults.add({ operation: "RunInstances", end: { kind: "reset" }, afterAcceptance: true, times: 3 });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    const made = await driver.createMachine({ ...aRequest(), userData: Secret.of("another token") }, aContext());
    expect(ec2.inventory().instances.map(({ id }) => `aws:///eu-west-1/${id}`)).toEqual([made.providerId]);
  });

  it("waits until the VM can be seen and has a name", async () => {
    const { ec2, driver } = await aCloud({ visibilityMs: 60, nameMs: 120 });
    const { nodeName } = await driver.createMachine(aRequest(), aContext());
    expect(nodeName).toBe(ec2.inventory().instances[0]?.privateDnsName);
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({ nodeName });
  });

  it("is Unavailable when EC2 assigns no name, and adopts the VM in the next attempt", async () => {
    const clock = createSkippingClock();
    const { ec2, driver } = await aCloud({ clock, nameMs: 600_000 }, { pollTimes: { visibleMs: 50 } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("DNS hostnames"),
    });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    clock.skip(600_000);
    await driver.createMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("asks for another token when the VM of this one has ended", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(aRequest(aMachine("m", { providerId })), aContext());
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Aborted",
      tokenIsSpent: true,
    });
    await driver.createMachine({ ...aRequest(), idempotencyToken: "second" }, aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it.each([
    ["Server.InsufficientInstanceCapacity", "ResourceExhausted"],
    ["Client.VolumeLimitExceeded", "ResourceExhausted"],
    // The code of EC2 for a key that the volumes of the VM may not use.
    ["Client.InternalError", "FailedPrecondition"],
    ["Client.InvalidSnapshot.NotFound", "FailedPrecondition"],
    ["Client.UserInitiatedShutdown", "Aborted"],
    ["Server.InternalError", "Aborted"],
  ])("classifies why a VM ends before it runs: %s is %s", async (code, expected) => {
    const { ec2, driver } = await aCloud({ nameMs: 600_000 });
    const creating = driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    await expect.poll(() => ec2.inventory().instances.length, { timeout: 10_000 }).toBe(1);
    for (const vm of ec2.world.instances.values()) {
      vm.terminatedAtMs = ec2.world.nowMs();
      vm.stateReason = { code, message: "because" };
    }
    expect(await creating).toMatchObject({
      code: expected,
      message: expect.stringContaining(code),
      tokenIsSpent: true,
    });
  });

  it.each([
    ["AuthFailure", 401],
    ["UnauthorizedOperation", 403],
    ["RequestExpired", 400],
  ])(
    "keeps the token when EC2 rejects the look at the VM that it has accepted with %s: no second VM follows",
    async (code, status) => {
      const { ec2, driver } = await aCloud({ visibilityMs: 150 });
      ec2.faults.add({ operation: "DescribeInstances", skip: 1, end: { kind: "refuse", refusal: { code, status } } });
      const failure = await driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "Unavailable", message: expect.stringContaining(`(${code})`) });
      expect(failure).not.toHaveProperty("tokenIsSpent");
      await driver.createMachine(aRequest(), aContext());
      expect(ec2.inventory().instances).toHaveLength(1);
    },
  );

  it("keeps the token when it cannot look for the VM that the token was used for before", async () => {
    // Until the test shows it, however slow the computer is.
    const { ec2, driver } = await aCloud({ visibilityMs: 3_600_000 });
    ec2.faults.add({ operation: "RunInstances", end: { kind: "reset" }, afterAcceptance: true, times: 3 });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    const refusal = { code: "AuthFailure" };
    ec2.faults.add({ operation: "DescribeInstances", skip: 1, end: { kind: "refuse", refusal } });
    const request = { ...aRequest(), userData: Secret.of("another token") };
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("AuthFailure"),
    });
    for (const instance of ec2.world.instances.values()) Object.assign(instance, { visibleAtMs: 0 });
    await driver.createMachine(request, aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("refuses an image that EC2 does not list", async () => {
    const { ec2, driver } = await aCloud();
    const body = `<DescribeImagesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><imagesSet/></DescribeImagesResponse>`;
    const reply = { status: 200, headers: { "content-type": "text/xml" }, body };
    ec2.faults.add({ operation: "DescribeImages", end: { kind: "reply", reply } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: 'providerSpec.ami: there is no image "ami-1" in eu-west-1',
    });
  });

  it("is Unknown after a launch that names no VM, and finds the VM in the next attempt", async () => {
    const { ec2, driver } = await aCloud();
    const body = `<RunInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><instancesSet/></RunInstancesResponse>`;
    const reply = { status: 200, headers: { "content-type": "text/xml" }, body };
    ec2.faults.add({ operation: "RunInstances", end: { kind: "reply", reply }, afterAcceptance: true });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unknown" });
    await driver.createMachine(aRequest(), aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("refuses an image without a root disk", async () => {
    const { driver } = await aCloud({ images: { "ami-1": {} } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("no root disk"),
    });
  });

  it("asks for an image once", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("a")), aContext());
    await driver.createMachine(aRequest(aMachine("b")), aContext());
    expect(ec2.log.count("DescribeImages")).toBe(1);
  });

  it("names the longest machine", async () => {
    const { ec2, driver } = await aCloud();
    const name = `${"a".repeat(63)}.`.repeat(3) + "b".repeat(61);
    await driver.createMachine(aRequest(aMachine(name, { uid: "u" })), aContext());
    expect(ec2.inventory().instances[0]?.tags.get("Name")).toBe(name);
  });
});
