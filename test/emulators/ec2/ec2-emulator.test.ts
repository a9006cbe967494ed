import {
  AssignIpv6AddressesCommand,
  DescribeImagesCommand,
  DescribeInstancesCommand,
  type DescribeInstancesCommandInput,
  DescribeInstanceTypesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeSubnetsCommand,
  DescribeVolumesCommand,
  type EbsBlockDevice,
  EC2Client,
  type Instance,
  ModifyNetworkInterfaceAttributeCommand,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { createVirtualClock } from "@millwright/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createEc2Emulator, type Ec2Emulator, type Ec2EmulatorOptions } from "./index.ts";

const emulators: Ec2Emulator[] = [];
const clients: EC2Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const emulator of emulators.splice(0)) {
    await emulator.close();
    if (emulator.failures.length > 0) throw new Error("the emulator failed", { cause: emulator.failures[0] });
  }
});

/** The unmodified SDK, and a cloud for it. */
async function anEc2(options: Ec2EmulatorOptions = {}) {
  const emulator = createEc2Emulator(options);
  emulators.push(emulator);
  const { url } = await emulator.listen();
  const clientOf = (accessKeyId: string, secretAccessKey: string): EC2Client => {
    const client = new EC2Client({
      region: "eu-west-1",
      endpoint: url,
      maxAttempts: 1,
      credentials: { accessKeyId, secretAccessKey },
    });
    clients.push(client);
    return client;
  };
  const client = clientOf("AKIA1", "secret");
  const run = async (input: Partial<RunInstancesCommandInput> = {}): Promise<Instance> => {
    const { Instances } = await client.send(new RunInstancesCommand({ ...aLaunch, ...input }));
    return Instances?.[0] ?? {};
  };
  const find = async (input: DescribeInstancesCommandInput = {}): Promise<readonly Instance[]> => {
    const { Reservations = [] } = await client.send(new DescribeInstancesCommand(input));
    return Reservations.flatMap(({ Instances = [] }) => Instances);
  };
  return { emulator, client, clientOf, run, find };
}

const aLaunch: RunInstancesCommandInput = {
  MinCount: 1,
  MaxCount: 1,
  ImageId: "ami-1",
  InstanceType: "m5.large",
  BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs: { VolumeSize: 20, VolumeType: "gp3" } }],
  NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: "subnet-a", Groups: ["sg-1"] }],
  TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "Name", Value: "vm" }] }],
};

const volume = (Ebs: EbsBlockDevice) => ({ BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs }] });

describe("the EC2 emulator", () => {
  it("names instances after their address, or after their ID by the subnet's setting", async () => {
    const subnets = {
      "subnet-a": { zone: "eu-west-1a" },
      "subnet-r": { zone: "eu-west-1a", hostnameType: "resource-name" },
    } as const;
    const { run } = await anEc2({ subnets });
    expect((await run()).PrivateDnsName).toMatch(/^ip-10(-\d{1,3}){3}\.eu-west-1\.compute\.internal$/);
    const byId = await run({ NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: "subnet-r", Groups: ["sg-1"] }] });
    expect(byId.PrivateDnsName).toBe(`${byId.InstanceId}.eu-west-1.compute.internal`);
  });

  it("creates an instance with its volume and interface, and shows them", async () => {
    const { run, find, client } = await anEc2();
    const { InstanceId } = await run();
    const [found] = await find();
    expect(found).toMatchObject({
      InstanceId,
      State: { Name: "running", Code: 16 },
      ImageId: "ami-1",
      Placement: { AvailabilityZone: "eu-west-1a" },
      Tags: [{ Key: "Name", Value: "vm" }],
      NetworkInterfaces: [{ SourceDestCheck: true, Attachment: { DeviceIndex: 0 } }],
    });
    expect(found?.PrivateDnsName).toMatch(/^ip-10-\d+-\d+-\d+\.eu-west-1\.compute\.internal$/);
    const { Volumes } = await client.send(new DescribeVolumesCommand({}));
    expect(Volumes).toMatchObject([{ Size: 20, VolumeType: "gp3", State: "in-use" }]);
    const { NetworkInterfaces } = await client.send(new DescribeNetworkInterfacesCommand({}));
    expect(NetworkInterfaces).toMatchObject([{ SubnetId: "subnet-a", Status: "in-use" }]);
  });

  it("passes through the states of an instance by its clock, and finally hides it", async () => {
    const clock = createVirtualClock({ now: new Date() });
    const { run, find, client } = await anEc2({ clock, pendingMs: 10, nameMs: 5, shutdownMs: 20, remembersMs: 30 });
    const { InstanceId = "", State, PrivateDnsName } = await run();
    expect([State?.Name, PrivateDnsName]).toEqual(["pending", ""]);
    await clock.advance(5);
    expect((await find())[0]?.PrivateDnsName).not.toBe("");
    await clock.advance(5);
    expect((await find())[0]?.State?.Name).toBe("running");
    const terminate = () => client.send(new TerminateInstancesCommand({ InstanceIds: [InstanceId] }));
    expect((await terminate()).TerminatingInstances).toMatchObject([
      { CurrentState: { Name: "shutting-down" }, PreviousState: { Name: "running" } },
    ]);
    await terminate();
    await clock.advance(20);
    expect((await find())[0]).toMatchObject({ State: { Name: "terminated" }, PrivateDnsName: "" });
    await clock.advance(30);
    expect(await find()).toEqual([]);
    await expect(find({ InstanceIds: [InstanceId] })).rejects.toMatchObject({ name: "InvalidInstanceID.NotFound" });
  });

  it("deletes resources with DeleteOnTermination with their instance, and keeps the others", async () => {
    const { run, client, emulator } = await anEc2();
    const kept = {
      DeviceName: "/dev/sdf",
      Ebs: { VolumeSize: 5, VolumeType: "gp3" as const, DeleteOnTermination: false },
    };
    const { InstanceId = "" } = await run({ BlockDeviceMappings: [...(aLaunch.BlockDeviceMappings ?? []), kept] });
    expect(emulator.inventory().volumes).toHaveLength(2);
    await client.send(new TerminateInstancesCommand({ InstanceIds: [InstanceId] }));
    const { instances, networkInterfaces, volumes } = emulator.inventory();
    expect([instances, networkInterfaces]).toEqual([[], []]);
    expect(volumes).toMatchObject([{ deviceName: "/dev/sdf", instanceId: undefined }]);
  });

  it("returns the same instance for a client token, and rejects it with other parameters", async () => {
    const { run, client, find } = await anEc2();
    const first = await run({ ClientToken: "t" });
    expect((await run({ ClientToken: "t" })).InstanceId).toBe(first.InstanceId);
    await expect(run({ ClientToken: "t", UserData: "YQ==" })).rejects.toMatchObject({
      name: "IdempotentParameterMismatch",
    });
    await client.send(new TerminateInstancesCommand({ InstanceIds: [first.InstanceId ?? ""] }));
    expect(await run({ ClientToken: "t" })).toMatchObject({
      InstanceId: first.InstanceId,
      State: { Name: "terminated" },
    });
    expect(await find({ Filters: [{ Name: "client-token", Values: ["t"] }] })).toHaveLength(1);
  });

  it.each([
    [false, "m5.xlarge"],
    [true, "IdempotentParameterMismatch"],
  ])("keeps the parameters of a token whose request was refused: %s", async (tokensRememberRefusals, expected) => {
    const { run, emulator } = await anEc2({ tokensRememberRefusals });
    emulator.world.capacity.set("m5.large", 0);
    await expect(run({ ClientToken: "t" })).rejects.toMatchObject({
      name: "InsufficientInstanceCapacity",
      $metadata: { httpStatusCode: 500 },
    });
    const outcome = run({ ClientToken: "t", InstanceType: "m5.xlarge" }).then(
      ({ InstanceType }) => InstanceType,
      (error: Error) => error.name,
    );
    expect(await outcome).toBe(expected);
  });

  it("shows a new instance after the configured delay", async () => {
    const clock = createVirtualClock({ now: new Date() });
    const { run, find } = await anEc2({ clock, visibilityMs: 100 });
    const { InstanceId = "" } = await run();
    expect(await find()).toEqual([]);
    await expect(find({ InstanceIds: [InstanceId] })).rejects.toMatchObject({ name: "InvalidInstanceID.NotFound" });
    await clock.advance(100);
    expect(await find({ InstanceIds: [InstanceId] })).toHaveLength(1);
  });

  it("matches all filters, also two of one name, and any value of each", async () => {
    const { run, find } = await anEc2();
    const tagged = (...keys: readonly string[]) => ({
      TagSpecifications: [{ ResourceType: "instance" as const, Tags: keys.map((Key) => ({ Key, Value: "1" })) }],
    });
    await run(tagged("a", "b"));
    await run(tagged("a"));
    await run(tagged("b"));
    const count = async (...filters: readonly (readonly [string, readonly string[]])[]) =>
      (await find({ Filters: filters.map(([Name, Values]) => ({ Name, Values: [...Values] })) })).length;
    expect(await count(["tag-key", ["a"]])).toBe(2);
    expect(await count(["tag-key", ["a"]], ["tag-key", ["b"]])).toBe(1);
    expect(await count(["tag:a", ["1", "2"]])).toBe(2);
    expect(await count(["tag-key", ["?"]])).toBe(3);
    expect(await count(["instance-state-name", ["stopped"]])).toBe(0);
    await expect(count(["no-such", ["a"]])).rejects.toMatchObject({ name: "InvalidParameterValue" });
    await expect(count(["tag-key", Array.from({ length: 201 }, String)])).rejects.toMatchObject({
      name: "FilterLimitExceeded",
    });
  });

  it("returns lists in pages", async () => {
    const { run, client, find } = await anEc2();
    for (let made = 0; made < 12; made++) await run();
    const pages: number[] = [];
    let NextToken: string | undefined;
    do {
      const page = await client.send(new DescribeInstancesCommand({ MaxResults: 5, NextToken }));
      pages.push(page.Reservations?.length ?? 0);
      NextToken = page.NextToken;
    } while (NextToken !== undefined);
    expect(pages).toEqual([5, 5, 2]);
    await expect(find({ MaxResults: 4 })).rejects.toMatchObject({ name: "InvalidParameterValue" });
    await expect(find({ MaxResults: 5, InstanceIds: ["i-00000000"] })).rejects.toMatchObject({
      name: "InvalidParameterCombination",
    });
  });

  it.each<[string, Partial<RunInstancesCommandInput>, string]>([
    ["image", { ImageId: "ami-9" }, "InvalidAMIID.NotFound"],
    ["type", { InstanceType: "m5.tiny" as "m5.large" }, "InvalidParameterValue"],
    ["key pair", { KeyName: "none" }, "InvalidKeyPair.NotFound"],
    ["instance profile", { IamInstanceProfile: { Name: "none" } }, "InvalidParameterValue"],
    ["subnet", { NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: "subnet-z" }] }, "InvalidSubnetID.NotFound"],
    [
      "security group",
      { NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: "subnet-a", Groups: ["sg-9"] }] },
      "InvalidGroup.NotFound",
    ],
    ["type of another architecture than the image", { InstanceType: "m6g.large" }, "InvalidParameterValue"],
    ["volume with too many IOPS", volume({ VolumeType: "gp3", VolumeSize: 20, Iops: 16_000 }), "InvalidParameterValue"],
    ["volume that has no choice of IOPS", volume({ VolumeType: "gp2", Iops: 300 }), "InvalidParameterCombination"],
    ["volume with too much throughput", volume({ VolumeType: "gp3", Throughput: 1_000 }), "InvalidParameterValue"],
    ["hop limit of 0", { MetadataOptions: { HttpPutResponseHopLimit: 0 } }, "InvalidParameterValue"],
    ["user data that is too long", { UserData: Buffer.alloc(16_385).toString("base64") }, "InvalidParameterValue"],
    ["a parameter that it does not know", { HibernationOptions: { Configured: true } }, "UnknownParameter"],
  ])("refuses a launch with %s", async (_, input, name) => {
    const { run } = await anEc2();
    await expect(run(input)).rejects.toMatchObject({ name });
  });

  it("reports exhausted capacity, vCPUs and addresses", async () => {
    const { run, emulator } = await anEc2({
      vcpuLimit: 4,
      subnets: { "subnet-a": { zone: "a", addresses: 2 }, "subnet-b": { zone: "b" } },
    });
    emulator.world.capacity.set("m5.large/b", 0);
    const inB = { NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: "subnet-b" }] };
    await expect(run(inB)).rejects.toMatchObject({ name: "InsufficientInstanceCapacity" });
    await run();
    await run();
    await expect(run()).rejects.toMatchObject({ name: "VcpuLimitExceeded", $metadata: { httpStatusCode: 400 } });
    const { run: runThere } = await anEc2({ subnets: { "subnet-a": { zone: "a", addresses: 1 } } });
    await runThere();
    await expect(runThere()).rejects.toMatchObject({ name: "InsufficientFreeAddressesInSubnet" });
  });

  it("disables source checks and assigns prefixes", async () => {
    const { run, client, find } = await anEc2();
    const { NetworkInterfaces: [card] = [] } = await run();
    const NetworkInterfaceId = card?.NetworkInterfaceId ?? "";
    await client.send(
      new ModifyNetworkInterfaceAttributeCommand({ NetworkInterfaceId, SourceDestCheck: { Value: false } }),
    );
    await client.send(new AssignIpv6AddressesCommand({ NetworkInterfaceId, Ipv6PrefixCount: 2 }));
    const [after] = (await find())[0]?.NetworkInterfaces ?? [];
    expect([after?.SourceDestCheck, after?.Ipv6Prefixes?.length]).toEqual([false, 2]);
  });

  it("describes images, types and subnets", async () => {
    const { client } = await anEc2();
    const { Images } = await client.send(new DescribeImagesCommand({ ImageIds: ["ami-1"] }));
    expect(Images).toMatchObject([{ ImageId: "ami-1", RootDeviceName: "/dev/xvda" }]);
    const { InstanceTypes } = await client.send(new DescribeInstanceTypesCommand({ InstanceTypes: ["p3.2xlarge"] }));
    expect(InstanceTypes).toMatchObject([
      { VCpuInfo: { DefaultVCpus: 8 }, MemoryInfo: { SizeInMiB: 62_464 }, GpuInfo: { Gpus: [{ Count: 1 }] } },
    ]);
    const { Subnets } = await client.send(new DescribeSubnetsCommand({ SubnetIds: ["subnet-b"] }));
    expect(Subnets).toMatchObject([{ AvailabilityZone: "eu-west-1b" }]);
  });

  it("checks signatures when it has access keys", async () => {
    const accessKeys = { AKIA1: { secretAccessKey: "secret", account: "1" } };
    const { find, clientOf } = await anEc2({ accessKeys });
    expect(await find()).toEqual([]);
    const list = new DescribeInstancesCommand({});
    await expect(clientOf("AKIA2", "secret").send(list)).rejects.toMatchObject({
      name: "AuthFailure",
      $metadata: { httpStatusCode: 401 },
    });
    await expect(clientOf("AKIA1", "wrong").send(list)).rejects.toMatchObject({ name: "SignatureDoesNotMatch" });
  });

  it("rejects a signature of another hour", async () => {
    const accessKeys = { AKIA1: { secretAccessKey: "secret", account: "1" } };
    const { find } = await anEc2({ accessKeys, clock: createVirtualClock({ now: new Date(0) }) });
    await expect(find()).rejects.toMatchObject({ name: "RequestExpired" });
  });

  it("throttles requests, and reclaims instances", async () => {
    const { find, run, emulator } = await anEc2({ throttle: { burst: 3, perSecond: 0.001 } });
    const { InstanceId = "" } = await run();
    emulator.reclaim(InstanceId);
    expect(await find()).toMatchObject([
      { State: { Name: "terminated" }, StateReason: { Code: "Server.SpotInstanceTermination" } },
    ]);
    await find();
    await expect(find()).rejects.toMatchObject({ name: "RequestLimitExceeded", $metadata: { httpStatusCode: 503 } });
  });
});
