import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

const card = { subnetID: "subnet-a", securityGroupIDs: ["sg-1"] };

describe("initializing a machine", () => {
  it("has nothing to do for a plain class", async () => {
    const { ec2, driver } = await aCloud();
    const { providerId, nodeName } = await driver.createMachine(aRequest(), aContext());
    ec2.log.clear();
    await expect(driver.initializeMachine?.(aRequest(), aContext())).resolves.toMatchObject({ providerId, nodeName });
    expect(ec2.log.requests.map(({ operation }) => operation)).toEqual(["DescribeInstances"]);
  });

  it.each<[string, Record<string, unknown>]>([
    ["whose source checks are to be on", { srcAndDstChecksEnabled: true }],
    ["that wants fewer prefixes than there are", { networkInterfaces: [{ ...card, ipv6PrefixCount: 1 }] }],
  ])("has nothing to do for a class %s", async (_, spec) => {
    const { ec2, driver } = await aCloud();
    const request = aRequest(aMachine("m"), spec);
    await driver.createMachine(request, aContext());
    for (const made of ec2.world.networkInterfaces.values()) made.ipv6Prefixes = ["2001:db8:1::/80", "2001:db8:2::/80"];
    await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ initialized: true });
    await driver.initializeMachine?.(request, aContext());
    expect(ec2.log.count("ModifyNetworkInterfaceAttribute") + ec2.log.count("AssignIpv6Addresses")).toBe(0);
  });

  it("switches the source check off on every interface that has one, once", async () => {
    const { ec2, driver } = await aCloud();
    const networkInterfaces = [
      card,
      { ...card, networkCardIndex: 1, interfaceType: "efa" },
      { ...card, deviceIndex: 2 },
    ];
    const request = aRequest(aMachine("m"), { networkInterfaces, srcAndDstChecksEnabled: false });
    await driver.createMachine(request, aContext());
    await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ initialized: false });
    await driver.initializeMachine?.(request, aContext());
    const checks = ec2.inventory().networkInterfaces.map(({ sourceDestCheck }) => sourceDestCheck);
    expect(checks).toEqual([false, true, false]);
    await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ initialized: true });
    await driver.initializeMachine?.(request, aContext());
    expect(ec2.log.count("ModifyNetworkInterfaceAttribute")).toBe(2);
  });

  it("assigns the prefixes that are missing, to the interface at the place of the entry", async () => {
    const { ec2, driver } = await aCloud();
    const networkInterfaces = [
      card,
      // Two network cards with index 1: MCM takes the index for the place in the list.
      { ...card, networkCardIndex: 1, deviceIndex: 1, ipv6PrefixCount: 2 },
    ];
    const request = aRequest(aMachine("m"), { networkInterfaces });
    await driver.createMachine(request, aContext());
    await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ initialized: false });
    await driver.initializeMachine?.(request, aContext());
    expect(ec2.inventory().networkInterfaces.map(({ ipv6Prefixes }) => ipv6Prefixes.length)).toEqual([0, 2]);
    await driver.initializeMachine?.(request, aContext());
    expect(ec2.log.count("AssignIpv6Addresses")).toBe(1);
  });

  it("does all that it can when one thing fails, and the rest the next time", async () => {
    const { ec2, driver } = await aCloud();
    const request = aRequest(aMachine("m"), { networkInterfaces: [card, card], srcAndDstChecksEnabled: false });
    await driver.createMachine(request, aContext());
    const refusal = { code: "UnauthorizedOperation" };
    ec2.faults.add({ operation: "ModifyNetworkInterfaceAttribute", end: { kind: "refuse", refusal } });
    const failing = driver.initializeMachine?.(request, aContext());
    await expect(failing).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(ec2.inventory().networkInterfaces.filter(({ sourceDestCheck }) => sourceDestCheck)).toHaveLength(1);
    await driver.initializeMachine?.(request, aContext());
    expect(ec2.inventory().networkInterfaces.every(({ sourceDestCheck }) => !sourceDestCheck)).toBe(true);
  });

  it("does not find a VM that is gone", async () => {
    const { driver } = await aCloud();
    await expect(driver.initializeMachine?.(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const request = aRequest(aMachine("m", { providerId }));
    await driver.deleteMachine(request, aContext());
    await expect(driver.initializeMachine?.(request, aContext())).rejects.toMatchObject({ code: "NotFound" });
  });

  it("is too early for a VM that cannot be seen yet", async () => {
    const { ec2, driver } = await aCloud({}, { pollTimes: { lookAgainMs: 500 } });
    const { providerId } = await driver.createMachine(aRequest(), aContext());
    const showFrom = (ms: number): void => {
      for (const vm of ec2.world.instances.values()) vm.visibleAtMs = ms;
    };
    showFrom(Number.POSITIVE_INFINITY);
    ec2.log.clear();
    const request = aRequest(aMachine("m", { providerId }));
    const tooEarly = driver.initializeMachine?.(request, aContext()).catch((error: unknown) => error);
    // By name, by id, and by id before it waits.
    await expect.poll(() => ec2.log.count("DescribeInstances"), { timeout: 10_000 }).toBe(3);
    showFrom(0);
    expect(await tooEarly).toMatchObject({ code: "Unavailable" });
    await expect(driver.initializeMachine?.(request, aContext())).resolves.toMatchObject({ providerId });
  });
});
