import type {
  BlockDeviceMapping,
  InstanceNetworkInterfaceSpecification,
  Placement,
  RunInstancesCommandInput,
  TagSpecification,
} from "@aws-sdk/client-ec2";
import { MachineError } from "@millwright/core";
import { type BlockDevice, rootDevice } from "../spec/block-devices.ts";
import { type NetworkInterface, placeOf } from "../spec/network-interfaces.ts";
import type { AwsSpec } from "../spec/spec.ts";
import { tagsOf } from "../vm/owner-tags.ts";
import type { Launch, LaunchCandidate } from "./launch.ts";
import { readPlacementAnnotation } from "./placement-annotation.ts";

/** EC2's limit for user data, before base64. */
const longestUserData = 16_384;

/**
 * The request that makes a VM. Pure: the same launch gives the same request, so that its client token means the same VM.
 *
 * @throws MachineError InvalidArgument for user data that EC2 would reject, and for an image without a root disk
 */
export function vmInput(launch: Launch, { machineType, subnetId }: LaunchCandidate): RunInstancesCommandInput {
  const { spec, machine, userData } = launch;
  const placement = placementOf(launch);
  const bytes = userData.revealBytes();
  if (bytes.length > longestUserData) {
    throw new MachineError(
      "InvalidArgument",
      `the user data of machine "${machine.name}" has ${bytes.length} bytes, EC2 takes ${longestUserData}: shorten key "userData" of the class secret`,
    );
  }
  return {
    MinCount: 1,
    MaxCount: 1,
    ImageId: spec.ami,
    // The SDK's list of types is older than the newest one.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    InstanceType: machineType as NonNullable<RunInstancesCommandInput["InstanceType"]>,
    UserData: Buffer.from(bytes).toString("base64"),
    IamInstanceProfile: spec.iam.name === undefined ? { Arn: spec.iam.arn } : { Name: spec.iam.name },
    BlockDeviceMappings: blockDevicesOf(spec.blockDevices, launch),
    NetworkInterfaces: spec.networkInterfaces.map((card, index) => networkInterfaceOf(card, index, subnetId)),
    TagSpecifications: tagSpecificationsOf(launch),
    ...(spec.keyName === undefined ? {} : { KeyName: spec.keyName }),
    ...(spec.ebsOptimized ? { EbsOptimized: true } : {}),
    ...(spec.monitoring ? { Monitoring: { Enabled: true } } : {}),
    ...(placement === undefined ? {} : { Placement: placement }),
    ...metadataOptionsOf(spec),
    ...cpuOptionsOf(spec),
    ...capacityReservationOf(spec),
    ...marketOf(spec),
  };
}

function blockDevicesOf(devices: readonly BlockDevice[], { rootDeviceName, spec }: Launch): BlockDeviceMapping[] {
  return devices.map(({ deviceName, ebs, noDevice, virtualName }) => {
    const isRoot = devices.length === 1 || deviceName === rootDevice;
    if (isRoot && (rootDeviceName === undefined || rootDeviceName === "")) {
      throw new MachineError("InvalidArgument", `providerSpec.ami: image "${spec.ami}" has no root disk`);
    }
    const DeviceName = isRoot ? rootDeviceName : deviceName;
    // MCM's driver requires a volume in every entry, so the other fields of an entry must not break its classes.
    if (noDevice !== undefined && !isRoot) return { DeviceName, NoDevice: noDevice };
    if (ebs === undefined) return { DeviceName, VirtualName: virtualName };
    return {
      DeviceName,
      Ebs: {
        DeleteOnTermination: ebs.deleteOnTermination,
        // A key is of no use without encryption, and EC2 rejects one.
        Encrypted: ebs.encrypted || ebs.kmsKeyID !== undefined,
        VolumeSize: ebs.volumeSize,
        VolumeType: ebs.volumeType,
        ...(ebs.iops > 0 ? { Iops: ebs.iops } : {}),
        ...(ebs.throughput === undefined ? {} : { Throughput: ebs.throughput }),
        ...(ebs.kmsKeyID === undefined ? {} : { KmsKeyId: ebs.kmsKeyID }),
        ...(ebs.snapshotID === undefined ? {} : { SnapshotId: ebs.snapshotID }),
      },
    };
  });
}

function networkInterfaceOf(
  card: NetworkInterface,
  index: number,
  subnetId: string | undefined,
): InstanceNetworkInterfaceSpecification {
  return {
    DeviceIndex: placeOf(card, index).deviceIndex,
    SubnetId: subnetId ?? card.subnetID,
    Groups: [...card.securityGroupIDs],
    DeleteOnTermination: card.deleteOnTermination,
    ...(card.associatePublicIPAddress === undefined ? {} : { AssociatePublicIpAddress: card.associatePublicIPAddress }),
    ...(card.description === undefined ? {} : { Description: card.description }),
    ...(card.interfaceType === undefined ? {} : { InterfaceType: card.interfaceType }),
    ...(card.networkCardIndex === undefined ? {} : { NetworkCardIndex: card.networkCardIndex }),
    ...(card.ipv6AddressCount === undefined
      ? {}
      : {
          Ipv6AddressCount: card.ipv6AddressCount,
          // None can be the first of none.
          ...(card.ipv6AddressCount > 0 ? { PrimaryIpv6: card.primaryIpv6 ?? true } : {}),
        }),
  };
}

function tagSpecificationsOf({ spec, machine, machineClass, token }: Launch): TagSpecification[] {
  const tags = Object.entries(tagsOf(spec, machine, machineClass, token)).map(([Key, Value]) => ({ Key, Value }));
  const kinds = ["instance", "volume", "network-interface"] as const;
  return kinds.map((ResourceType) => ({ ResourceType, Tags: tags }));
}

function metadataOptionsOf({
  instanceMetadataOptions: given,
}: AwsSpec): Pick<RunInstancesCommandInput, "MetadataOptions"> {
  if (given === undefined) return {};
  const { httpEndpoint, httpTokens, httpProtocolIpv6, httpPutResponseHopLimit, instanceMetadataTags } = given;
  return {
    MetadataOptions: {
      ...(httpEndpoint === undefined ? {} : { HttpEndpoint: httpEndpoint }),
      ...(httpTokens === undefined ? {} : { HttpTokens: httpTokens }),
      ...(httpProtocolIpv6 === undefined ? {} : { HttpProtocolIpv6: httpProtocolIpv6 }),
      ...(httpPutResponseHopLimit === undefined ? {} : { HttpPutResponseHopLimit: httpPutResponseHopLimit }),
      ...(instanceMetadataTags === undefined ? {} : { InstanceMetadataTags: instanceMetadataTags }),
    },
  };
}

function cpuOptionsOf({ cpuOptions: given }: AwsSpec): Pick<RunInstancesCommandInput, "CpuOptions"> {
  if (given === undefined) return {};
  return {
    CpuOptions: {
      ...(given.coreCount === undefined ? {} : { CoreCount: given.coreCount }),
      ...(given.threadsPerCore === undefined ? {} : { ThreadsPerCore: given.threadsPerCore }),
      ...(given.amdSevSnp === undefined ? {} : { AmdSevSnp: given.amdSevSnp }),
    },
  };
}

function capacityReservationOf({
  capacityReservation: given,
}: AwsSpec): Pick<RunInstancesCommandInput, "CapacityReservationSpecification"> {
  if (given === undefined) return {};
  const { capacityReservationPreference, capacityReservationId, capacityReservationResourceGroupArn } = given;
  if (capacityReservationPreference !== undefined) {
    return {
      CapacityReservationSpecification: {
        // The schema does not check it, as MCM does not: EC2 knows its own preferences.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        CapacityReservationPreference: capacityReservationPreference as "open",
      },
    };
  }
  const target = {
    ...(capacityReservationId === undefined ? {} : { CapacityReservationId: capacityReservationId }),
    ...(capacityReservationResourceGroupArn === undefined
      ? {}
      : { CapacityReservationResourceGroupArn: capacityReservationResourceGroupArn }),
  };
  return Object.keys(target).length === 0
    ? {}
    : { CapacityReservationSpecification: { CapacityReservationTarget: target } };
}

function marketOf({
  instanceMarketOptions,
  spotPrice,
}: AwsSpec): Pick<RunInstancesCommandInput, "InstanceMarketOptions"> {
  if (instanceMarketOptions !== undefined) {
    const { marketType, maxPrice } = instanceMarketOptions;
    return {
      InstanceMarketOptions: {
        MarketType: marketType,
        ...(maxPrice === undefined ? {} : { SpotOptions: { MaxPrice: maxPrice } }),
      },
    };
  }
  if (spotPrice === undefined) return {};
  return {
    InstanceMarketOptions: {
      MarketType: "spot",
      SpotOptions: { SpotInstanceType: "one-time", ...(spotPrice === "" ? {} : { MaxPrice: spotPrice }) },
    },
  };
}

/** That of the class; without one, that of the node annotation. */
function placementOf({ spec: { placement }, machine }: Launch): Placement | undefined {
  if (placement === undefined) return readPlacementAnnotation(machine);
  return {
    ...(placement.affinity === undefined ? {} : { Affinity: placement.affinity }),
    ...(placement.groupId === undefined ? {} : { GroupId: placement.groupId }),
    ...(placement.hostId === undefined ? {} : { HostId: placement.hostId }),
    ...(placement.partitionNumber === undefined ? {} : { PartitionNumber: placement.partitionNumber }),
    ...(placement.tenancy === undefined ? {} : { Tenancy: placement.tenancy }),
  };
}
