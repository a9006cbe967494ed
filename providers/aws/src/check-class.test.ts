import { refuse } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aRequest, aMachine, plainSecret } from "./testing/aws-cloud.ts";

type Cloud = Awaited<ReturnType<typeof aCloud>>;

const check = async ({ driver }: Cloud, spec: object = {}, secret = plainSecret) => {
  const { checks = [] } = (await driver.checkClass?.(aRequest(aMachine("m"), { ...spec }, secret), aContext())) ?? {};
  return checks;
};
/** The checks with a status, as `name: message`. */
const those = (checks: Awaited<ReturnType<typeof check>>, status: string): readonly string[] =>
  checks.filter((each) => each.status === status).map(({ name, message }) => `${name}: ${message}`);

describe("the checks of a class", () => {
  it("pass where VMs can be created, and create and end none", async () => {
    const cloud = await aCloud();
    await cloud.driver.createMachine(aRequest(), aContext());
    const before = cloud.ec2.inventory();
    const checks = await check(cloud, { fallbacks: [{ machineType: "m5.xlarge", subnetID: "subnet-b" }] });
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "Credentials ok",
      "Right DescribeInstances ok",
      "Image ok",
      "Subnets ok",
      "Security groups ok",
      "Machine type ok",
      "Right TerminateInstances ok",
      "Quota skipped",
      "Launch ok",
    ]);
    expect(cloud.ec2.inventory()).toEqual(before);
    expect(before.instances.map(({ state }) => state)).toEqual(["running"]);
  });

  it.each<[string, object, RegExp]>([
    ["no image", { ami: "ami-9" }, /^Image: .*InvalidAMIID\.NotFound/],
    [
      "no subnet",
      { networkInterfaces: [{ subnetID: "subnet-9", securityGroupIDs: ["sg-1"] }] },
      /^Subnets: providerSpec\.networkInterfaces\[0\]\.subnetID: there is no subnet "subnet-9" in eu-west-1\.$/,
    ],
    [
      "no security group",
      { networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1", "sg-9"] }] },
      /^Security groups: .*The security group 'sg-9' does not exist/,
    ],
    [
      "an unknown type",
      { machineType: "m99.large" },
      /^Machine type: providerSpec\.machineType: EC2 does not offer "m99\.large" in eu-west-1a\.$/,
    ],
    ["an unknown instance profile", { iam: { name: "others" } }, /^Launch: .*Invalid IAM Instance Profile/],
    ["an unknown key pair", { keyName: "lost" }, /^Launch: .*InvalidKeyPair\.NotFound/],
  ])("fail in one line for %s", async (_, spec, line) => {
    const failed = those(await check(await aCloud(), spec), "failed");
    expect(failed).toEqual([expect.stringMatching(line)]);
  });

  it("fail in one line for a type that another zone has", async () => {
    const type = { vcpus: 2, memoryMiB: 8_192, architecture: "x86_64" };
    const cloud = await aCloud({
      instanceTypes: { "m5.large": { ...type, zones: ["eu-west-1b"] }, "m5.xlarge": type },
    });
    expect(those(await check(cloud), "failed")).toEqual([
      expect.stringMatching(/^Machine type: .*"m5\.large" in eu-west-1a/),
    ]);
    // Another candidate can be launched.
    const checks = await check(cloud, { machineType: "m5.xlarge", fallbacks: [{ machineType: "m5.large" }] });
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "warning")).toEqual([expect.stringContaining("providerSpec.fallbacks[0]: ")]);
  });

  it("fail in one line for a subnet without addresses", async () => {
    const cloud = await aCloud({ subnets: { "subnet-a": { zone: "eu-west-1a", addresses: 0 } } });
    expect(those(await check(cloud), "failed")).toEqual([
      'Subnets: providerSpec.networkInterfaces[0].subnetID: subnet "subnet-a" has no free address.',
    ]);
  });

  it("only warn of a fallback of another architecture than the image", async () => {
    const checks = await check(await aCloud(), { fallbacks: [{ machineType: "m6g.large" }] });
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "warning")).toEqual([
      'Image: providerSpec.ami: image "ami-1" is for x86_64, m6g.large for arm64.',
    ]);
  });

  it.each([
    [{ rootDeviceName: "/dev/xvda", architecture: "arm64" }, /^Image: .*is for arm64, m5\.large for x86_64\.$/],
    [{ rootDeviceName: "/dev/xvda", imageState: "deregistered" }, /^Image: .*is deregistered, not available\.$/],
  ])("fail in one line for an image such as %j", async (image, line) => {
    const cloud = await aCloud({ images: { "ami-1": image } });
    expect(those(await check(cloud), "failed")).toEqual([expect.stringMatching(line)]);
  });

  it("fail at wrong credentials, and skip everything else", async () => {
    const cloud = await aCloud({ accessKeys: { AKIA1: { secretAccessKey: "another", account: "1" } } });
    const checks = await check(cloud);
    expect(those(checks, "failed")).toEqual([expect.stringMatching(/^Credentials: .*check the secret access key/)]);
    expect(checks.slice(1).every(({ status }) => status === "skipped")).toBe(true);
    expect(JSON.stringify(checks)).not.toContain(plainSecret["secretAccessKey"]);
  });

  it.each([
    ["RunInstances", "Launch"],
    ["DescribeInstances", "Right DescribeInstances"],
    ["TerminateInstances", "Right TerminateInstances"],
    ["DescribeImages", "Image"],
    ["DescribeSubnets", "Subnets"],
  ])("fail in one line without the permission to %s, which the driver needs", async (operation, name) => {
    const cloud = await aCloud();
    await cloud.driver.createMachine(aRequest(), aContext());
    cloud.ec2.faults.add({ operation, times: 100, end: refuse("UnauthorizedOperation") });
    const failed = those(await check(cloud), "failed");
    expect(failed).toEqual([expect.stringMatching(new RegExp(`^${name}: .*UnauthorizedOperation`))]);
  });

  it.each([
    ["DescribeSecurityGroups", "Security groups"],
    ["DescribeInstanceTypeOfferings", "Machine type"],
  ])("are skipped without the permission to %s, which only they need", async (operation, name) => {
    const cloud = await aCloud();
    cloud.ec2.faults.add({ operation, times: 100, end: refuse("UnauthorizedOperation") });
    const checks = await check(cloud);
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "skipped")).toContainEqual(
      expect.stringMatching(new RegExp(`^${name}: .*UnauthorizedOperation`)),
    );
    expect(those(checks, "ok")).toContainEqual(expect.stringMatching(/^Launch: /));
  });

  it("skip the permission to terminate while there is no VM to ask with", async () => {
    const cloud = await aCloud();
    expect(those(await check(cloud), "skipped")).toContainEqual(expect.stringMatching(/^Right TerminateInstances: /));
  });
});
