import { Secret } from "@millwright/core";
import { createSkippingClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { ownerTagKeys } from "./owner-tags.ts";
import { aCloud, aContext, aMachine, aRequest, plainSpec, sentParameters } from "./testing/aws-cloud.ts";

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

  const networkInterfaces = [
    { subnetID: "subnet-a", securityGroupIDs: ["sg-1"], interfaceType: "", primaryIpv6: true, ipv6PrefixCount: 1 },
  ];
  it.each<[string, Record<string, unknown>]>([
    ["a plain class", {}],
    [
      "a class with empty texts",
      {
        apiVersion: "mcm.gardener.cloud/v1alpha1",
        keyName: "",
        iam: { name: "nodes", arn: "" },
        capacityReservation: { capacityReservationPreference: "", capacityReservationId: "" },
        instanceMetadataOptions: { httpEndpoint: "", httpTokens: "", httpProtocolIpv6: "" },
        placement: {},
        cpuOptions: {},
        srcAndDstChecksEnabled: true,
      },
    ],
    ["a class whose prefixes come later, without addresses of which one could be the primary", { networkInterfaces }],
  ])("sends nothing that is not asked for: %s", async (_, spec) => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    const sent = sentParameters(ec2, "RunInstances");
    const tags = Object.keys(sent).filter((key) => key.startsWith("TagSpecification"));
    expect(Object.fromEntries(Object.entries(sent).filter(([key]) => !tags.includes(key)))).toEqual({
      MinCount: "1",
      MaxCount: "1",
      ImageId: "ami-1",
      InstanceType: "m5.large",
      ClientToken: "token-of-uid-of-m",
      UserData: Buffer.from("#!/bin/sh\necho hello").toString("base64"),
      "IamInstanceProfile.Name": "nodes",
      "BlockDeviceMapping.1.DeviceName": "/dev/xvda",
      "BlockDeviceMapping.1.Ebs.DeleteOnTermination": "true",
      "BlockDeviceMapping.1.Ebs.Encrypted": "false",
      "BlockDeviceMapping.1.Ebs.VolumeSize": "20",
      "BlockDeviceMapping.1.Ebs.VolumeType": "gp3",
      "NetworkInterface.1.DeviceIndex": "0",
      "NetworkInterface.1.SubnetId": "subnet-a",
      "NetworkInterface.1.SecurityGroupId.1": "sg-1",
      "NetworkInterface.1.DeleteOnTermination": "true",
    });
    expect(tags).toHaveLength(3 * (1 + 2 * 9));
  });

  it("sends every optional field of the class", async () => {
    const { ec2, driver } = await aCloud({ images: { "ami-1": { rootDeviceName: "/dev/sda1" } } });
    const spec = {
      keyName: "key",
      ebsOptimized: true,
      monitoring: true,
      iam: { arn: "arn:aws:iam::123456789012:instance-profile/nodes" },
      blockDevices: [
        {
          deviceName: "/root",
          ebs: {
            volumeSize: 50,
            volumeType: "io1",
            iops: 300,
            encrypted: true,
            kmsKeyID: "key-1",
            deleteOnTermination: false,
          },
        },
        { deviceName: "/dev/sdf", ebs: { volumeSize: 5, volumeType: "gp3", throughput: 200, snapshotID: "snap-1" } },
        { deviceName: "/dev/sdg", noDevice: "x", ebs: { volumeSize: 5, volumeType: "gp3" } },
        { deviceName: "/dev/xvdba", virtualName: "ephemeral0" },
        { deviceName: "/dev/sdh", virtualName: "ephemeral1", ebs: { volumeSize: 5, volumeType: "gp3", kmsKeyID: "k" } },
      ],
      networkInterfaces: [
        {
          subnetID: "subnet-a",
          securityGroupIDs: ["sg-1", "sg-2"],
          description: "first",
          deleteOnTermination: false,
          ipv6AddressCount: 1,
          interfaceType: "efa",
          networkCardIndex: 0,
          deviceIndex: 0,
        },
        {
          subnetID: "subnet-a",
          securityGroupIDs: ["sg-1"],
          networkCardIndex: 1,
          deviceIndex: 1,
          primaryIpv6: false,
          ipv6AddressCount: 2,
        },
      ],
      instanceMetadataOptions: {
        httpEndpoint: "enabled",
        httpPutResponseHopLimit: 2,
        httpTokens: "required",
        httpProtocolIpv6: "enabled",
        instanceMetadataTags: "enabled",
      },
      cpuOptions: { coreCount: 4, threadsPerCore: 1, amdSevSnp: "enabled" },
      capacityReservation: { capacityReservationId: "cr-1" },
      placement: { groupId: "pg-1", tenancy: "host", hostId: "h-1", partitionNumber: 2, affinity: "host" },
      instanceMarketOptions: { marketType: "spot", maxPrice: "0.5" },
    };
    await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    const sent = sentParameters(ec2, "RunInstances");
    expect(sent).toMatchObject({
      KeyName: "key",
      EbsOptimized: "true",
      "Monitoring.Enabled": "true",
      "IamInstanceProfile.Arn": "arn:aws:iam::123456789012:instance-profile/nodes",
      "BlockDeviceMapping.1.DeviceName": "/dev/sda1",
      "BlockDeviceMapping.1.Ebs.Iops": "300",
      "BlockDeviceMapping.1.Ebs.Encrypted": "true",
      "BlockDeviceMapping.1.Ebs.KmsKeyId": "key-1",
      "BlockDeviceMapping.1.Ebs.DeleteOnTermination": "false",
      "BlockDeviceMapping.2.DeviceName": "/dev/sdf",
      "BlockDeviceMapping.2.Ebs.Throughput": "200",
      "BlockDeviceMapping.2.Ebs.SnapshotId": "snap-1",
      "BlockDeviceMapping.3.NoDevice": "x",
      "BlockDeviceMapping.4.VirtualName": "ephemeral0",
      "BlockDeviceMapping.5.Ebs.Encrypted": "true",
      "NetworkInterface.1.Description": "first",
      "NetworkInterface.1.DeleteOnTermination": "false",
      "NetworkInterface.1.SecurityGroupId.2": "sg-2",
      "NetworkInterface.1.Ipv6AddressCount": "1",
      "NetworkInterface.1.PrimaryIpv6": "true",
      "NetworkInterface.1.InterfaceType": "efa",
      "NetworkInterface.2.NetworkCardIndex": "1",
      "NetworkInterface.2.DeviceIndex": "1",
      "NetworkInterface.2.PrimaryIpv6": "false",
      "MetadataOptions.HttpEndpoint": "enabled",
      "MetadataOptions.HttpPutResponseHopLimit": "2",
      "MetadataOptions.HttpTokens": "required",
      "MetadataOptions.HttpProtocolIpv6": "enabled",
      "MetadataOptions.InstanceMetadataTags": "enabled",
      "CpuOptions.CoreCount": "4",
      "CpuOptions.ThreadsPerCore": "1",
      "CpuOptions.AmdSevSnp": "enabled",
      "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId": "cr-1",
      "Placement.GroupId": "pg-1",
      "Placement.Tenancy": "host",
      "Placement.HostId": "h-1",
      "Placement.PartitionNumber": "2",
      "Placement.Affinity": "host",
      "InstanceMarketOptions.MarketType": "spot",
      "InstanceMarketOptions.SpotOptions.MaxPrice": "0.5",
    });
    // What MCM reads and forgets keeps no class of its from working: a volume goes with nothing else.
    expect(
      Object.keys(sent)
        .filter((key) => key.startsWith("BlockDeviceMapping.3"))
        .toSorted(),
    ).toEqual(["BlockDeviceMapping.3.DeviceName", "BlockDeviceMapping.3.NoDevice"]);
    expect(sent).not.toHaveProperty("BlockDeviceMapping.5.VirtualName");
  });

  it("always makes the root disk, whatever its entry says besides", async () => {
    const { ec2, driver } = await aCloud();
    const blockDevices = [{ noDevice: "x", virtualName: "ephemeral0", ebs: { volumeSize: 20, volumeType: "gp3" } }];
    await driver.createMachine(aRequest(aMachine("m"), { blockDevices }), aContext());
    expect(ec2.inventory().volumes).toMatchObject([{ deviceName: "/dev/xvda", sizeGiB: 20 }]);
  });

  it("has no primary address where an interface gets none", async () => {
    const { ec2, driver } = await aCloud();
    const networkInterfaces = [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"], ipv6AddressCount: 0 }];
    await driver.createMachine(aRequest(aMachine("m"), { networkInterfaces }), aContext());
    const sent = sentParameters(ec2, "RunInstances");
    expect([sent["NetworkInterface.1.Ipv6AddressCount"], sent["NetworkInterface.1.PrimaryIpv6"]]).toEqual([
      "0",
      undefined,
    ]);
  });

  it("leaves out of its own tags what only people read, where the class has too many for all", async () => {
    const { ec2, driver } = await aCloud();
    const more = Object.fromEntries(Array.from({ length: 44 }, (_, at) => [`t${at}`, "1"]));
    const request = aRequest(aMachine("m"), { tags: { ...plainSpec.tags, ...more } });
    await driver.createMachine(request, aContext());
    const tags = ec2.inventory().instances[0]?.tags;
    expect([tags?.size, tags?.get("Name"), tags?.get(ownerTagKeys.machineUid), tags?.get(ownerTagKeys.token)]).toEqual([
      50,
      "m",
      "uid-of-m",
      "token-of-uid-of-m",
    ]);
    await driver.deleteMachine(request, aContext());
    expect(ec2.inventory().instances).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    [
      "a spot price",
      { spotPrice: "0.1" },
      { MarketType: "spot", "SpotOptions.SpotInstanceType": "one-time", "SpotOptions.MaxPrice": "0.1" },
    ],
    ["an empty spot price", { spotPrice: "" }, { MarketType: "spot", "SpotOptions.SpotInstanceType": "one-time" }],
    [
      "market options, which win over a spot price",
      { spotPrice: "0.1", instanceMarketOptions: { marketType: "capacity-block" } },
      { MarketType: "capacity-block" },
    ],
  ])("asks the market for %s", async (_, spec, expected) => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    const start = "InstanceMarketOptions.";
    const sent = Object.entries(sentParameters(ec2, "RunInstances")).filter(([key]) => key.startsWith(start));
    expect(Object.fromEntries(sent.map(([key, value]) => [key.slice(start.length), value]))).toEqual(expected);
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ["a preference", { capacityReservationPreference: "open" }, { CapacityReservationPreference: "open" }],
    [
      "a group",
      { capacityReservationResourceGroupArn: "arn:group" },
      { "CapacityReservationTarget.CapacityReservationResourceGroupArn": "arn:group" },
    ],
    ["nothing", {}, {}],
  ])("reserves capacity by %s", async (_, capacityReservation, expected) => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), { capacityReservation }), aContext());
    const start = "CapacityReservationSpecification.";
    const sent = Object.entries(sentParameters(ec2, "RunInstances")).filter(([key]) => key.startsWith(start));
    expect(Object.fromEntries(sent.map(([key, value]) => [key.slice(start.length), value]))).toEqual(expected);
  });

  it("keeps the machine's name where the class has a tag Name", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), { tags: { ...plainSpec.tags, Name: "evil" } }), aContext());
    expect(ec2.inventory().instances[0]?.tags.get("Name")).toBe("m");
  });

  it("does not let the class overwrite the owner's tags", async () => {
    const { ec2, driver } = await aCloud();
    const tags = { ...plainSpec.tags, [ownerTagKeys.machineUid]: "evil" };
    await driver.createMachine(aRequest(aMachine("m"), { tags }), aContext());
    expect(ec2.inventory().instances[0]?.tags.get(ownerTagKeys.machineUid)).toBe("uid-of-m");
  });

  it("delivers user data byte by byte, up to the limit of EC2", async () => {
    const { ec2, driver } = await aCloud();
    const bytes = Uint8Array.from({ length: 16_384 }, (_, index) => index % 256);
    await driver.createMachine({ ...aRequest(), userData: Secret.of(bytes) }, aContext());
    expect(Buffer.from(ec2.inventory().instances[0]?.userData ?? "", "base64")).toEqual(Buffer.from(bytes));
  });

  it("refuses user data that EC2 would refuse, before it asks", async () => {
    const { ec2, driver } = await aCloud();
    const userData = Secret.of(new Uint8Array(16_385));
    await expect(driver.createMachine({ ...aRequest(), userData }, aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("16385 bytes"),
    });
    expect(ec2.log.count("RunInstances")).toBe(0);
  });

  it("says the same id to the same request", async () => {
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

  it("says so when EC2 shows no name, and takes the VM that is there the next time", async () => {
    const clock = createSkippingClock();
    const { ec2, driver } = await aCloud({ clock, nameMs: 600_000 }, { patience: { visibleMs: 50 } });
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
    // EC2 says so of a key that the VM's volumes may not use.
    ["Client.InternalError", "FailedPrecondition"],
    ["Client.InvalidSnapshot.NotFound", "FailedPrecondition"],
    ["Client.UserInitiatedShutdown", "Aborted"],
    ["Server.InternalError", "Aborted"],
  ])("says what it means that a VM ends before it runs: %s is %s", async (code, expected) => {
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

  it("does not know what became of a launch that names no VM, and finds it the next time", async () => {
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

  it("say what each was refused with when none has room", async () => {
    const { ec2, driver } = await aCloud();
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

  it("make one VM when the process died after one was accepted, although there is capacity for the first again", async () => {
    const { ec2, driver } = await aCloud({ visibilityMs: 100 });
    ec2.world.capacity.set("m5.large/eu-west-1a", 0);
    ec2.faults.add({ operation: "RunInstances", skip: 1, times: 3, end: { kind: "reset" }, afterAcceptance: true });
    const request = aRequest(aMachine("m"), { fallbacks });
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "Unavailable" });
    ec2.world.capacity.clear();
    const { providerId } = await driver.createMachine(request, aContext());
    expect(ec2.inventory().instances).toMatchObject([{ instanceType: "m5.xlarge" }]);
    expect(providerId).toContain(ec2.inventory().instances[0]?.id);
  });

  it("work also should EC2 bind a token to a request that it refused, and keep to one VM", async () => {
    const { ec2, driver } = await aCloud({ tokensRememberRefusals: true });
    ec2.world.capacity.set("m5.large/eu-west-1a", 0);
    const request = aRequest(aMachine("m"), { fallbacks });
    const { providerId } = await driver.createMachine(request, aContext());
    expect((await driver.createMachine(request, aContext())).providerId).toBe(providerId);
    expect(ec2.inventory().instances).toMatchObject([{ instanceType: "m5.xlarge" }]);
  });
});
