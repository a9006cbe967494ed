import type { Ec2Action } from "./call.ts";
import { tagSet } from "./describe-instances.ts";
import { readFilters, tagValues } from "./filters.ts";
import type { Volume } from "./instance.ts";
import { Ec2Refusal } from "./refusal.ts";

/** `DescribeImages`, by ids. */
export const describeImages: Ec2Action = (parameters, { world }) => {
  const ids = parameters.texts("ImageId");
  parameters.refuseUnread();
  return {
    imagesSet: ids.map((imageId) => {
      const image = world.images.get(imageId);
      if (image === undefined) {
        throw new Ec2Refusal("InvalidAMIID.NotFound", `The image id '[${imageId}]' does not exist`);
      }
      return { imageId, imageState: "available", ...image };
    }),
  };
};

/** `DescribeInstanceTypes`, by names. */
export const describeInstanceTypes: Ec2Action = (parameters, { world }) => {
  const names = parameters.texts("InstanceType");
  parameters.refuseUnread();
  return {
    instanceTypeSet: names.map((instanceType) => {
      const type = world.instanceTypes.get(instanceType);
      if (type === undefined) {
        throw new Ec2Refusal(
          "InvalidInstanceType",
          `The following supplied instance types do not exist: [${instanceType}]`,
        );
      }
      return {
        instanceType,
        vCpuInfo: { defaultVCpus: type.vcpus },
        memoryInfo: { sizeInMiB: type.memoryMiB },
        processorInfo: { supportedArchitectures: [type.architecture] },
        ...(type.gpus === undefined
          ? {}
          : { gpuInfo: { gpus: [{ name: "GPU", manufacturer: "NVIDIA", count: type.gpus }] } }),
      };
    }),
  };
};

/** `DescribeSubnets`, by ids. */
export const describeSubnets: Ec2Action = (parameters, { world }) => {
  const ids = parameters.texts("SubnetId");
  parameters.refuseUnread();
  return {
    subnetSet: ids.map((subnetId) => {
      const subnet = world.subnets.get(subnetId);
      if (subnet === undefined) {
        throw new Ec2Refusal("InvalidSubnetID.NotFound", `The subnet ID '${subnetId}' does not exist`);
      }
      const taken = [...world.networkInterfaces.values()].filter((card) => card.subnetId === subnetId).length;
      return {
        subnetId,
        vpcId: "vpc-1",
        state: "available",
        availabilityZone: subnet.zone,
        availableIpAddressCount: Math.max(0, (subnet.addresses ?? 4_091) - taken),
      };
    }),
  };
};

/** `DescribeSecurityGroups`, by ids. */
export const describeSecurityGroups: Ec2Action = (parameters, { world, account }) => {
  const ids = parameters.texts("GroupId");
  parameters.refuseUnread();
  return {
    securityGroupInfo: ids.map((groupId) => {
      if (!world.securityGroups.has(groupId)) {
        throw new Ec2Refusal("InvalidGroup.NotFound", `The security group '${groupId}' does not exist`);
      }
      return { groupId, groupName: groupId, groupDescription: "of the nodes", vpcId: "vpc-1", ownerId: account };
    }),
  };
};

/** `DescribeInstanceTypeOfferings` of zones, by filters. */
export const describeInstanceTypeOfferings: Ec2Action = (parameters, { world }) => {
  const locationType = parameters.text("LocationType") ?? "region";
  const fits = readFilters(parameters);
  parameters.refuseUnread();
  if (locationType !== "availability-zone") {
    throw new Ec2Refusal("UnsupportedOperation", "The emulator knows offerings of availability zones");
  }
  const zones = [...new Set([...world.subnets.values()].map(({ zone }) => zone))];
  return {
    instanceTypeOfferingSet: [...world.instanceTypes].flatMap(([instanceType, type]) =>
      zones
        .filter((zone) => type.zones?.includes(zone) !== false)
        .filter((zone) =>
          fits((name) => (name === "instance-type" ? [instanceType] : name === "location" ? [zone] : undefined)),
        )
        .map((location) => ({ instanceType, locationType, location })),
    ),
  };
};

/** `DescribeVolumes`: for inventories. */
export const describeVolumes: Ec2Action = (parameters, { world }) => {
  const fits = readFilters(parameters);
  parameters.refuseUnread();
  const statusOf = (volume: Volume): string => (volume.instanceId === undefined ? "available" : "in-use");
  return {
    volumeSet: [...world.volumes.values()]
      .filter((volume) => fits((name) => (name === "status" ? [statusOf(volume)] : tagValues(volume.tags, name))))
      .map((volume) => ({
        volumeId: volume.id,
        size: volume.sizeGiB,
        volumeType: volume.type,
        status: statusOf(volume),
        encrypted: volume.encrypted,
        tagSet: tagSet(volume.tags),
      })),
  };
};
