import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, manyTags } from "../testing/aws-cloud.ts";

describe("capacity fallbacks", () => {
  const fallbacks = [
    { machineType: "m5.xlarge" },
    { subnetID: "subnet-b" },
    { machineType: "m6g.large", subnetID: "subnet-b" },
  ];

  it("are tried in their order when there is no capacity", async () => {
    const { ec2, driver } = await aCloud();
    ec2.world.capacity.set("m5.large/eu-west-1a", 0).set("m5.xlarge", 0);
    await driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext());
    expect(ec2.log.count("RunInstances")).toBe(3);
    expect(ec2.inventory().instances).toMatchObject([
      { instanceType: "m5.large", shown: { placement: { availabilityZone: "eu-west-1b" } } },
    ]);
  });

  it("report the errors of all candidates when none has capacity", async () => {
    const { ec2, driver } = await aCloud({ images: { "ami-1": { rootDeviceName: "/dev/xvda" } } });
    for (const type of ["m5.large", "m5.xlarge", "m6g.large"]) ec2.world.capacity.set(type, 0);
    await expect(driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(
        /m5\.large in subnet-a.*m5\.xlarge in subnet-a.*m5\.large in subnet-b.*m6g\.large in subnet-b/,
      ),
    });
    expect(ec2.inventory().instances).toEqual([]);
  });

  it("do not help against anything but a lack of capacity", async () => {
    const { ec2, driver } = await aCloud();
    const end = { kind: "refuse", refusal: { code: "InvalidParameterValue" } } as const;
    ec2.faults.add({ operation: "RunInstances", end });
    await expect(driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    expect(ec2.log.count("RunInstances")).toBe(1);
  });

  it.each([2, 48, 49])(
    "make one VM when the process died after one was accepted, although there is capacity for the first again, in a class with %i tags",
    async (count) => {
      const { ec2, driver } = await aCloud({ visibilityMs: 100 });
      ec2.world.capacity.set("m5.large/eu-west-1a", 0);
      ec2.faults.add({ operation: "RunInstances", skip: 1, times: 3, end: { kind: "reset" }, afterAcceptance: true });
      const request = aRequest(aMachine("m"), { fallbacks, tags: manyTags(count) });
      await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "Unavailable" });
      ec2.world.capacity.clear();
      const { providerId } = await driver.createMachine(request, aContext());
      expect(ec2.inventory().instances).toMatchObject([{ instanceType: "m5.xlarge" }]);
      expect(providerId).toContain(ec2.inventory().instances[0]?.id);
    },
  );

  it("work also should EC2 bind a token to a request that it refused, and keep to one VM", async () => {
    const { ec2, driver } = await aCloud({ tokensRememberRefusals: true });
    ec2.world.capacity.set("m5.large/eu-west-1a", 0);
    const request = aRequest(aMachine("m"), { fallbacks });
    const { providerId } = await driver.createMachine(request, aContext());
    expect((await driver.createMachine(request, aContext())).providerId).toBe(providerId);
    expect(ec2.inventory().instances).toMatchObject([{ instanceType: "m5.xlarge" }]);
  });
});
