import type { Parameters } from "./parameters.ts";
import { Ec2Refusal } from "./refusal.ts";
import type { XmlGroup } from "./xml.ts";

/** A device of a launch. */
export interface DeviceRequest {
  readonly deviceName: string;
  /** Absent: an instance store volume, or a device of the image that is omitted. */
  readonly ebs?: {
    readonly sizeGiB: number | undefined;
    readonly type: string;
    readonly iops: number | undefined;
    readonly throughput: number | undefined;
    readonly encrypted: boolean;
    readonly kmsKeyId: string | undefined;
    readonly deleteOnTermination: boolean;
  };
}

/** A network interface of a launch. */
export interface InterfaceRequest {
  readonly subnetId: string;
  readonly groupIds: readonly string[];
  readonly deviceIndex: number;
  readonly networkCardIndex: number;
  readonly interfaceType: string;
  readonly associatePublicIp: boolean;
  readonly deleteOnTermination: boolean;
  readonly description: string;
  readonly ipv6AddressCount: number;
}

/** A launch request. */
export interface LaunchRequest {
  readonly imageId: string;
  readonly instanceType: string;
  readonly keyName: string | undefined;
  readonly profile: string | undefined;
  readonly userData: string;
  readonly isSpot: boolean;
  readonly clientToken: string | undefined;
  readonly devices: readonly DeviceRequest[];
  readonly interfaces: readonly InterfaceRequest[];
  /** Tags by resource type. */
  readonly tags: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly placement: XmlGroup;
  readonly shown: XmlGroup;
}

const invalid = (what: string): Ec2Refusal => new Ec2Refusal("InvalidParameterValue", what);

/** Types of volumes with a choice of IOPS: the lowest, those of any size, and those of each GiB (Amazon EBS User Guide, "Amazon EBS volume types"). */
const iopsOfTypes: ReadonlyMap<string, readonly [lowest: number, base: number, perGiB: number]> = new Map([
  ["gp3", [3_000, 3_000, 500]],
  ["io1", [100, 0, 50]],
  ["io2", [100, 0, 1_000]],
]);

/** Rejects IOPS and throughput that a volume cannot have. */
function checkPerformance(
  type: string,
  { sizeGiB, iops, throughput }: Record<"sizeGiB" | "iops" | "throughput", number | undefined>,
): void {
  const allowed = iopsOfTypes.get(type);
  if (iops !== undefined) {
    if (allowed === undefined) {
      throw new Ec2Refusal("InvalidParameterCombination", `The parameter iops is not supported for ${type} volumes.`);
    }
    const [lowest, base, perGiB] = allowed;
    if (iops < lowest) throw invalid(`Volume iops of ${iops} is too low; minimum is ${lowest}.`);
    if (sizeGiB !== undefined && iops > Math.max(base, perGiB * sizeGiB)) {
      throw invalid(`Iops to volume size ratio of ${iops / sizeGiB} is too high; maximum is ${perGiB}.`);
    }
  }
  if (throughput === undefined) return;
  if (type !== "gp3") {
    throw new Ec2Refusal(
      "InvalidParameterCombination",
      `The parameter throughput is not supported for ${type} volumes.`,
    );
  }
  if (throughput < 125) throw invalid(`Volume throughput of ${throughput} MiB/s is too low; minimum is 125 MiB/s.`);
  if (throughput * 4 > (iops ?? 3_000))
    throw invalid("Throughput (MiBps) to iops ratio is too high; maximum is 0.250000.");
}

function readDevices(parameters: Parameters): readonly DeviceRequest[] {
  const devices = parameters.items("BlockDeviceMapping").map((item): DeviceRequest => {
    const deviceName = item.required("DeviceName");
    const ebs = item.group("Ebs");
    item.text("NoDevice");
    item.text("VirtualName");
    if (ebs === undefined) return { deviceName };
    const type = ebs.text("VolumeType") ?? "gp2";
    const iops = ebs.number("Iops");
    const sizeGiB = ebs.number("VolumeSize");
    const throughput = ebs.number("Throughput");
    checkPerformance(type, { sizeGiB, iops, throughput });
    ebs.text("SnapshotId");
    if ((type === "io1" || type === "io2") && iops === undefined) {
      throw new Ec2Refusal("MissingParameter", `The request must contain the parameter iops for ${type} volumes`);
    }
    return {
      deviceName,
      ebs: {
        sizeGiB,
        type,
        iops,
        throughput,
        encrypted: ebs.flag("Encrypted") ?? false,
        kmsKeyId: ebs.text("KmsKeyId"),
        deleteOnTermination: ebs.flag("DeleteOnTermination") ?? true,
      },
    };
  });
  const names = devices.map(({ deviceName }) => deviceName);
  if (new Set(names).size !== names.length) {
    throw new Ec2Refusal("InvalidBlockDeviceMapping", "A device name occurs twice");
  }
  return devices;
}

function readInterfaces(parameters: Parameters): readonly InterfaceRequest[] {
  const interfaces = parameters.items("NetworkInterface").map((item): InterfaceRequest => {
    item.flag("PrimaryIpv6");
    return {
      subnetId: item.required("SubnetId"),
      groupIds: item.texts("SecurityGroupId"),
      deviceIndex: item.number("DeviceIndex") ?? 0,
      networkCardIndex: item.number("NetworkCardIndex") ?? 0,
      interfaceType: item.text("InterfaceType") ?? "interface",
      associatePublicIp: item.flag("AssociatePublicIpAddress") ?? false,
      deleteOnTermination: item.flag("DeleteOnTermination") ?? true,
      description: item.text("Description") ?? "",
      ipv6AddressCount: item.number("Ipv6AddressCount") ?? 0,
    };
  });
  const places = interfaces.map(({ deviceIndex, networkCardIndex }) => `${networkCardIndex}/${deviceIndex}`);
  if (new Set(places).size !== places.length) throw invalid("Each network interface requires a unique device index.");
  if (interfaces.length > 1 && interfaces.some(({ associatePublicIp }) => associatePublicIp)) {
    throw new Ec2Refusal(
      "InvalidParameterCombination",
      "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.",
    );
  }
  return interfaces;
}

const taggable = new Set(["instance", "volume", "network-interface", "spot-instances-request"]);

function readTags(parameters: Parameters): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const kinds = new Map<string, ReadonlyMap<string, string>>();
  for (const item of parameters.items("TagSpecification")) {
    const kind = item.required("ResourceType");
    if (!taggable.has(kind)) throw invalid(`'${kind}' is not a valid taggable resource type`);
    if (kinds.has(kind)) throw invalid(`Multiple tag specifications for '${kind}'`);
    const tags = new Map<string, string>();
    for (const tag of item.items("Tag")) {
      const key = tag.required("Key");
      const value = tag.text("Value") ?? "";
      if (tags.has(key)) throw invalid(`Duplicate tag key '${key}' specified.`);
      if (key.length > 127 || value.length > 255) throw invalid(`Tag '${key}' exceeds the maximum length`);
      if (key.toLowerCase().startsWith("aws:")) throw invalid("Tag keys starting with 'aws:' are reserved");
      tags.set(key, value);
    }
    if (tags.size > 50) throw new Ec2Refusal("TagLimitExceeded", "More than 50 tags on a resource");
    kinds.set(kind, tags);
  }
  return kinds;
}

const longestUserData = 16_384;

/** Parameters that are only shown in descriptions. */
function readShown(parameters: Parameters): XmlGroup {
  const metadata = parameters.group("MetadataOptions");
  const cpu = parameters.group("CpuOptions");
  const reservation = parameters.group("CapacityReservationSpecification");
  const hops = metadata?.number("HttpPutResponseHopLimit") ?? 1;
  if (hops < 1 || hops > 64) throw invalid(`Invalid value '${hops}' for HttpPutResponseHopLimit. Values: 1 to 64.`);
  return {
    ...(metadata === undefined
      ? {}
      : {
          metadataOptions: {
            state: "applied",
            httpTokens: metadata.text("HttpTokens") ?? "optional",
            httpPutResponseHopLimit: hops,
            httpEndpoint: metadata.text("HttpEndpoint") ?? "enabled",
            httpProtocolIpv6: metadata.text("HttpProtocolIpv6") ?? "disabled",
            instanceMetadataTags: metadata.text("InstanceMetadataTags") ?? "disabled",
          },
        }),
    ...(cpu === undefined
      ? {}
      : {
          cpuOptions: {
            coreCount: cpu.number("CoreCount"),
            threadsPerCore: cpu.number("ThreadsPerCore"),
            amdSevSnp: cpu.text("AmdSevSnp"),
          },
        }),
    ...(reservation === undefined
      ? {}
      : {
          capacityReservationSpecification: {
            capacityReservationPreference: reservation.text("CapacityReservationPreference"),
            capacityReservationTarget: {
              capacityReservationId: reservation.text("CapacityReservationTarget.CapacityReservationId"),
              capacityReservationResourceGroupArn: reservation.text(
                "CapacityReservationTarget.CapacityReservationResourceGroupArn",
              ),
            },
          },
        }),
    ebsOptimized: parameters.flag("EbsOptimized") ?? false,
    monitoring: { state: parameters.flag("Monitoring.Enabled") === true ? "enabled" : "disabled" },
  };
}

function readPlacement(parameters: Parameters): XmlGroup {
  const placement = parameters.group("Placement");
  return {
    affinity: placement?.text("Affinity"),
    availabilityZone: placement?.text("AvailabilityZone"),
    groupId: placement?.text("GroupId"),
    groupName: placement?.text("GroupName"),
    hostId: placement?.text("HostId"),
    hostResourceGroupArn: placement?.text("HostResourceGroupArn"),
    partitionNumber: placement?.number("PartitionNumber"),
    spreadDomain: placement?.text("SpreadDomain"),
    tenancy: placement?.text("Tenancy") ?? "default",
  };
}

/** Reads the parameters of RunInstances, and rejects invalid ones. */
export function readLaunch(parameters: Parameters): LaunchRequest {
  if (parameters.number("MinCount") !== 1 || parameters.number("MaxCount") !== 1) {
    throw new Ec2Refusal("UnsupportedOperation", "The emulator makes one instance at a time");
  }
  const userData = parameters.text("UserData") ?? "";
  const decoded = Buffer.from(userData, "base64");
  if (decoded.toString("base64") !== userData) throw invalid("Invalid BASE64 encoding of user data.");
  if (decoded.length > longestUserData) throw invalid("User data is limited to 16384 bytes");
  const clientToken = parameters.text("ClientToken");
  if (clientToken !== undefined && clientToken.length > 64) throw invalid("The client token is too long");
  const market = parameters.text("InstanceMarketOptions.MarketType");
  const price = parameters.text("InstanceMarketOptions.SpotOptions.MaxPrice");
  parameters.text("InstanceMarketOptions.SpotOptions.SpotInstanceType");
  parameters.text("InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior");
  if (price !== undefined && !(Number(price) > 0)) throw invalid(`'${price}' is not a valid spot price`);
  const profile = parameters.group("IamInstanceProfile");
  const launch: LaunchRequest = {
    imageId: parameters.required("ImageId"),
    instanceType: parameters.required("InstanceType"),
    keyName: parameters.text("KeyName"),
    profile: profile?.text("Name") ?? profile?.text("Arn"),
    userData,
    isSpot: market === "spot",
    clientToken,
    devices: readDevices(parameters),
    interfaces: readInterfaces(parameters),
    tags: readTags(parameters),
    placement: readPlacement(parameters),
    shown: readShown(parameters),
  };
  parameters.refuseUnread();
  return launch;
}
