import type { ArmWorld } from "../arm/index.ts";
import type { Ec2World } from "../ec2/index.ts";
import type { GceWorld } from "../gce/index.ts";
import { flattenBody } from "./flatten-body.ts";
import type { RecordedExchange } from "./read-recording.ts";

/** Resources in the requests of a recording have to exist in the world of an emulator. */
const accepted = (exchanges: readonly RecordedExchange[]): readonly RecordedExchange[] =>
  exchanges.filter(({ status = 0 }) => status >= 200 && status < 300);

/** Adds images, subnets, groups, keys, profiles and instance types in requests. */
export function seedEc2(world: Ec2World, exchanges: readonly RecordedExchange[]): void {
  const zone = /<availabilityZone>([\w-]+)</.exec(exchanges.map(({ responseBody }) => responseBody).join("\n"))?.[1];
  for (const { requestBody, responseBody } of accepted(exchanges)) {
    const rootDeviceName = /<rootDeviceName>([^<]+)</.exec(responseBody)?.[1] ?? "/dev/xvda";
    for (const [key, value] of new URLSearchParams(requestBody)) {
      if (key.startsWith("ImageId")) world.images.set(value, { rootDeviceName });
      else if (/(^|\.)SubnetId/.test(key)) world.subnets.set(value, { zone: zone ?? "eu-west-1a" });
      else if (/SecurityGroup(Id)?\./.test(key)) world.securityGroups.add(value);
      else if (key === "KeyName") world.keyPairs.add(value);
      else if (key.startsWith("IamInstanceProfile")) world.instanceProfiles.add(value);
      else if (key.startsWith("InstanceType") && !world.instanceTypes.has(value))
        world.instanceTypes.set(value, { vcpus: 2, memoryMiB: 8_192, architecture: "x86_64" });
    }
  }
}

/** Texts of the request's JSON, by the last part of their path. */
function* textsOf({ requestBody }: RecordedExchange): Generator<readonly [name: string, text: string, at: string]> {
  for (const { at, text } of flattenBody(requestBody) ?? []) {
    if (text !== undefined) yield [at.split(".").at(-1) ?? "", text, at];
  }
}

/** Adds projects, zones, images, networks and machine types in requests. */
export function seedGce(world: GceWorld, exchanges: readonly RecordedExchange[]): void {
  const addType = (name: string): void => {
    if (!world.machineTypes.has(name))
      world.machineTypes.set(name, { guestCpus: 2, memoryMb: 8_192, architecture: "X86_64" });
  };
  for (const exchange of accepted(exchanges)) {
    const [, project, zone] = /\/projects\/([^/]+)\/zones\/([^/]+)/.exec(exchange.url) ?? [];
    if (project === undefined || zone === undefined) continue;
    world.projects.add(project);
    world.zones.add(zone);
    const [, type] = /\/machineTypes\/([^/?]+)/.exec(exchange.url) ?? [];
    if (type !== undefined) addType(type);
    for (const [name, text] of textsOf(exchange)) {
      if (name === "sourceImage") world.images.add(text.replace(/^.*?(?=projects\/)/, ""));
      else if (name === "machineType") addType(text.split("/").at(-1) ?? "");
      else if (name === "network") world.networks.add(text.split("/").at(-1) ?? "");
      else if (name === "subnetwork") {
        const region = /regions\/([^/]+)/.exec(text)?.[1] ?? zone.replace(/-[a-z]$/, "");
        world.subnetworks.add(`${region}/${text.split("/").at(-1) ?? ""}`);
      }
    }
  }
}

/** Adds resource groups, subnets, sizes and images of the marketplace in requests. */
export function seedArm(world: ArmWorld, exchanges: readonly RecordedExchange[]): void {
  for (const exchange of accepted(exchanges)) {
    const [, group] = /\/resourceGroups\/([^/?]+)/i.exec(exchange.url) ?? [];
    if (group !== undefined) world.groups.add(group.toLowerCase());
    const image = new Map<string, string>();
    for (const [name, text, at] of textsOf(exchange)) {
      const [, subnetGroup, network, subnet] =
        /\/resourceGroups\/([^/]+)\/.*\/virtualNetworks\/([^/]+)\/subnets\/([^/]+)$/i.exec(text) ?? [];
      if (subnet !== undefined) {
        world.groups.add(String(subnetGroup).toLowerCase());
        world.subnets.set(`${subnetGroup}/${network}/${subnet}`, {});
      }
      if (name === "vmSize" && !world.sizes.has(text))
        world.sizes.set(text, { vcpus: 2, memoryGb: 8, architecture: "x64" });
      if (at.includes("imageReference.")) image.set(name, text);
    }
    const urn = ["publisher", "offer", "sku", "version"].map((part) => image.get(part) ?? "").join(":");
    if (image.has("publisher") && !world.images.has(urn)) world.images.set(urn, {});
  }
}
