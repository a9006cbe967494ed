import type { Ec2Action, Ec2Call } from "./call.ts";
import { reservation } from "./describe-instances.ts";
import type { Instance } from "./instance.ts";
import { type LaunchRequest, readLaunch } from "./launch-request.ts";
import { refuseDryRun } from "./parameters.ts";
import { Ec2Refusal } from "./refusal.ts";
import type { Ec2World } from "./world.ts";

/** Rejects references that do not exist. */
function checkReferences(world: Ec2World, launch: LaunchRequest): void {
  const { imageId, instanceType, keyName, profile, interfaces } = launch;
  if (!world.images.has(imageId)) {
    throw new Ec2Refusal("InvalidAMIID.NotFound", `The image id '[${imageId}]' does not exist`);
  }
  if (!world.instanceTypes.has(instanceType)) {
    throw new Ec2Refusal("InvalidParameterValue", `Invalid value '${instanceType}' for InstanceType.`);
  }
  const { architecture } = world.instanceTypes.get(instanceType) ?? {};
  const ofImage = world.images.get(imageId)?.architecture ?? architecture;
  if (ofImage !== architecture) {
    throw new Ec2Refusal(
      "InvalidParameterValue",
      `The architecture '${architecture}' of the specified instance type does not match the architecture '${ofImage}' of the specified AMI.`,
    );
  }
  if (keyName !== undefined && !world.keyPairs.has(keyName)) {
    throw new Ec2Refusal("InvalidKeyPair.NotFound", `The key pair '${keyName}' does not exist`);
  }
  if (profile !== undefined && !world.instanceProfiles.has(profile)) {
    throw new Ec2Refusal(
      "InvalidParameterValue",
      `Value (${profile}) for parameter iamInstanceProfile is invalid. Invalid IAM Instance Profile`,
    );
  }
  for (const { subnetId, groupIds } of interfaces) {
    if (!world.subnets.has(subnetId)) {
      throw new Ec2Refusal("InvalidSubnetID.NotFound", `The subnet ID '${subnetId}' does not exist`);
    }
    for (const group of groupIds) {
      if (world.securityGroups.has(group)) continue;
      throw new Ec2Refusal("InvalidGroup.NotFound", `The security group '${group}' does not exist`);
    }
  }
  const zones = new Set(interfaces.map(({ subnetId }) => world.subnets.get(subnetId)?.zone));
  if (zones.size > 1) throw new Ec2Refusal("InvalidParameterCombination", "All subnets must be in one zone");
}

/** Rejects a launch without capacity or quota. */
function checkCapacity(world: Ec2World, { instanceType, interfaces }: LaunchRequest, zone: string): void {
  const isUp = (instance: Instance): boolean => {
    const state = world.state(instance);
    return state === "pending" || state === "running";
  };
  const up = [...world.instances.values()].filter(isUp);
  const cpusOf = (type: string): number => world.instanceTypes.get(type)?.vcpus ?? 0;
  const limit = world.options.vcpuLimit ?? Number.POSITIVE_INFINITY;
  const used = up.reduce((sum, { instanceType }) => sum + cpusOf(instanceType), 0);
  if (used + cpusOf(instanceType) > limit) {
    throw new Ec2Refusal(
      "VcpuLimitExceeded",
      `You have requested more vCPU capacity than your current vCPU limit of ${limit} allows for the instance bucket that the specified instance type belongs to.`,
    );
  }
  for (const key of [`${instanceType}/${zone}`, instanceType]) {
    if ((world.capacity.get(key) ?? 1) > 0) continue;
    throw new Ec2Refusal(
      "InsufficientInstanceCapacity",
      `We currently do not have sufficient ${instanceType} capacity in the Availability Zone you requested (${zone}).`,
    );
  }
  for (const { subnetId } of interfaces) {
    const room = world.subnets.get(subnetId)?.addresses ?? Number.POSITIVE_INFINITY;
    const taken = [...world.networkInterfaces.values()].filter((card) => card.subnetId === subnetId).length;
    if (taken < room) continue;
    throw new Ec2Refusal(
      "InsufficientFreeAddressesInSubnet",
      `There are not enough free addresses in subnet '${subnetId}'.`,
    );
  }
}

function takeCapacity(world: Ec2World, instanceType: string, zone: string): void {
  for (const key of [`${instanceType}/${zone}`, instanceType]) {
    const left = world.capacity.get(key);
    if (left !== undefined) world.capacity.set(key, left - 1);
  }
}

function launchInstance({ world, region, account }: Ec2Call, launch: LaunchRequest, zone: string): Instance {
  const { random } = world;
  const id = `i-0${random.hex(8)}`;
  const sequence = world.nextSequence();
  const address = (): string =>
    `10.${
      random
        .hex(3)
        .match(/../g)
        ?.map((two) => Number.parseInt(two, 16))
        .join(".") ?? ""
    }`;
  const tagsOf = (kind: string): Map<string, string> => new Map(launch.tags.get(kind));
  let firstAddress: string | undefined;
  for (const card of launch.interfaces) {
    const privateIp = address();
    if (card.deviceIndex === 0 && card.networkCardIndex === 0) firstAddress = privateIp;
    const cardId = `eni-0${random.hex(8)}`;
    world.networkInterfaces.set(cardId, {
      id: cardId,
      subnetId: card.subnetId,
      zone,
      groupIds: card.groupIds,
      privateIp,
      ...(card.associatePublicIp ? { publicIp: `203.0.113.${Number.parseInt(random.hex(1), 16)}` } : {}),
      description: card.description,
      interfaceType: card.interfaceType,
      deviceIndex: card.deviceIndex,
      networkCardIndex: card.networkCardIndex,
      deleteOnTermination: card.deleteOnTermination,
      ipv6Addresses: Array.from({ length: card.ipv6AddressCount }, () => `2001:db8::${random.hex(2)}`),
      tags: tagsOf("network-interface"),
      ipv6Prefixes: [],
      sourceDestCheck: true,
      instanceId: id,
    });
  }
  for (const { deviceName, ebs } of launch.devices) {
    if (ebs === undefined) continue;
    const volumeId = `vol-0${random.hex(8)}`;
    world.volumes.set(volumeId, {
      id: volumeId,
      deviceName,
      sizeGiB: ebs.sizeGiB ?? 8,
      type: ebs.type,
      ...(ebs.iops === undefined ? {} : { iops: ebs.iops }),
      ...(ebs.throughput === undefined ? {} : { throughput: ebs.throughput }),
      encrypted: ebs.encrypted,
      ...(ebs.kmsKeyId === undefined ? {} : { kmsKeyId: ebs.kmsKeyId }),
      deleteOnTermination: ebs.deleteOnTermination,
      tags: tagsOf("volume"),
      instanceId: id,
    });
  }
  const nowMs = world.nowMs();
  // Amazon EC2 User Guide, "EC2 instance hostnames and domains".
  const { hostnameType = "ip-name" } = world.subnets.get(launch.interfaces[0]?.subnetId ?? "") ?? {};
  const hostname = hostnameType === "ip-name" ? `ip-${(firstAddress ?? address()).replaceAll(".", "-")}` : id;
  const instance: Instance = {
    sequence,
    id,
    reservationId: `r-0${random.hex(8)}`,
    region,
    account,
    imageId: launch.imageId,
    instanceType: launch.instanceType,
    clientToken: launch.clientToken ?? "",
    privateDnsName: `${hostname}.${region === "us-east-1" ? "ec2.internal" : `${region}.compute.internal`}`,
    userData: launch.userData,
    shown: {
      ...launch.shown,
      placement: { ...launch.placement, availabilityZone: zone },
      ...(launch.keyName === undefined ? {} : { keyName: launch.keyName }),
      ...(launch.profile === undefined ? {} : { iamInstanceProfile: { arn: arnOf(launch.profile), id: "AIPA0000" } }),
    },
    ...(launch.isSpot ? { lifecycle: "spot" } : {}),
    launchedAtMs: nowMs,
    launchTime: world.now().toISOString(),
    tags: tagsOf("instance"),
    visibleAtMs: nowMs + (world.options.visibilityMs ?? 0),
  };
  world.instances.set(id, instance);
  return instance;
}

const arnOf = (profile: string): string =>
  profile.startsWith("arn:") ? profile : `arn:aws:iam::123456789012:instance-profile/${profile}`;

/** The parameters by which two requests with one token are compared. */
function canonical(body: string): string {
  const form = new URLSearchParams(body);
  for (const key of ["ClientToken", "Action", "Version"]) form.delete(key);
  form.sort();
  return form.toString();
}

/** `RunInstances` of one instance, with the idempotency of client tokens. */
export function runInstances(body: string): Ec2Action {
  return (parameters, call) => {
    const { world, region, account } = call;
    const isDryRun = parameters.flag("DryRun") === true;
    const launch = readLaunch(parameters);
    if (isDryRun) {
      // Missing references are rejected, too; only a launch checks capacity and quota.
      checkReferences(world, launch);
      refuseDryRun(parameters);
    }
    const key = launch.clientToken === undefined ? undefined : `${account}/${region}/${launch.clientToken}`;
    const asked = canonical(body);
    const known = key === undefined ? undefined : world.tokens.get(key);
    if (known !== undefined) {
      if (known.parameters !== asked) {
        throw new Ec2Refusal(
          "IdempotentParameterMismatch",
          "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).",
        );
      }
      const made = world.instances.get(known.instanceId ?? "");
      if (made !== undefined) return reservation(world, made);
    }
    const zone = world.subnets.get(launch.interfaces[0]?.subnetId ?? "")?.zone ?? `${region}a`;
    try {
      checkReferences(world, launch);
      checkCapacity(world, launch, zone);
    } catch (refusal) {
      if (key !== undefined && world.options.tokensRememberRefusals === true) {
        world.tokens.set(key, { parameters: asked, instanceId: undefined });
      }
      throw refusal;
    }
    takeCapacity(world, launch.instanceType, zone);
    const instance = launchInstance(call, launch, zone);
    if (key !== undefined) world.tokens.set(key, { parameters: asked, instanceId: instance.id });
    return reservation(world, instance);
  };
}
