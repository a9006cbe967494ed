import type { Ec2Action } from "./call.ts";
import { tagSet } from "./describe-instances.ts";
import { readFilters, tagValues } from "./filters.ts";
import type { NetworkInterface } from "./instance.ts";
import { Ec2Refusal } from "./refusal.ts";
import type { Ec2World } from "./world.ts";

function interfaceById(world: Ec2World, id: string): NetworkInterface {
  const found = world.networkInterfaces.get(id);
  if (found !== undefined) return found;
  throw new Ec2Refusal("InvalidNetworkInterfaceID.NotFound", `The networkInterface ID '${id}' does not exist`);
}

/** `ModifyNetworkInterfaceAttribute`, only for the source/destination check. */
export const modifyNetworkInterfaceAttribute: Ec2Action = (parameters, { world }) => {
  const found = interfaceById(world, parameters.required("NetworkInterfaceId"));
  const check = parameters.flag("SourceDestCheck.Value");
  parameters.refuseUnread();
  if (found.interfaceType.startsWith("efa-only")) {
    throw new Ec2Refusal("InvalidParameterCombination", "EFA-only interfaces have no source/destination check");
  }
  if (check !== undefined) found.sourceDestCheck = check;
  return { return: true };
};

/** `AssignIpv6Addresses`, only for prefixes. */
export const assignIpv6Addresses: Ec2Action = (parameters, { world }) => {
  const found = interfaceById(world, parameters.required("NetworkInterfaceId"));
  const count = parameters.number("Ipv6PrefixCount") ?? 0;
  parameters.refuseUnread();
  if (count < 1) throw new Ec2Refusal("InvalidParameterValue", "Ipv6PrefixCount must be at least 1");
  const added = Array.from({ length: count }, () => `2001:db8:${world.random.hex(2)}:${world.random.hex(2)}::/80`);
  found.ipv6Prefixes = [...found.ipv6Prefixes, ...added];
  return { networkInterfaceId: found.id, assignedIpv6PrefixSet: added };
};

/** `DescribeNetworkInterfaces`: for inventories. */
export const describeNetworkInterfaces: Ec2Action = (parameters, { world }) => {
  const fits = readFilters(parameters);
  parameters.refuseUnread();
  const values = (card: NetworkInterface, name: string): readonly string[] | undefined =>
    name === "status" ? [card.instanceId === undefined ? "available" : "in-use"] : tagValues(card.tags, name);
  return {
    networkInterfaceSet: [...world.networkInterfaces.values()]
      .filter((card) => fits((name) => values(card, name)))
      .map((card) => ({
        networkInterfaceId: card.id,
        subnetId: card.subnetId,
        availabilityZone: card.zone,
        status: card.instanceId === undefined ? "available" : "in-use",
        tagSet: tagSet(card.tags),
      })),
  };
};
