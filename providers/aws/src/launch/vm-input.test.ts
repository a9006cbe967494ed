import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, manyTags, plainSpec, sentParameters } from "../testing/aws-cloud.ts";
import { ownerTagKeys } from "../vm/owner-tags.ts";

describe("what a launch asks for", () => {
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
            iops: 2_500,
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
      "BlockDeviceMapping.1.Ebs.Iops": "2500",
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

  it("always creates the root disk, regardless of the rest of its entry", async () => {
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

  const { name, machineUid, token, specHash, namespace } = ownerTagKeys;
  it.each<[number, readonly string[]]>([
    [45, [name, machineUid, token, specHash, namespace]],
    [47, [name, machineUid, token]],
    [48, [name, machineUid]],
    [49, [name]],
  ])("leaves out the least needed of its own tags where the class has %i, and knows its VM", async (count, left) => {
    const { ec2, driver } = await aCloud();
    const tags = manyTags(count);
    const request = aRequest(aMachine("m"), { tags });
    const { providerId } = await driver.createMachine(request, aContext());
    const given = [...(ec2.inventory().instances[0]?.tags.keys() ?? [])];
    expect(given).toHaveLength(50);
    expect(given.filter((key) => !(key in tags)).toSorted()).toEqual(left.toSorted());
    expect(await driver.createMachine(request, aContext())).toMatchObject({ providerId });
    expect(await driver.getMachineStatus(request, aContext())).toMatchObject({ providerId });
    await driver.deleteMachine(request, aContext());
    expect(ec2.inventory().instances).toEqual([]);
    expect(ec2.log.count("RunInstances")).toBe(1);
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
});
