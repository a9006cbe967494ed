import { hasErrorCode } from "../api/errors.ts";
import type { AwsSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** The subnets of a class with the paths of their fields: those of its network interfaces, then those of its fallbacks. */
const subnetsOf = ({ networkInterfaces, fallbacks }: AwsSpec): readonly (readonly [path: string, id: string])[] => [
  ...networkInterfaces.map(({ subnetID }, index) => [`networkInterfaces[${index}].subnetID`, subnetID] as const),
  ...fallbacks.flatMap(({ subnetID }, index) =>
    subnetID === undefined ? [] : [[`fallbacks[${index}].subnetID`, subnetID] as const],
  ),
];

/** Whether the subnets exist and have addresses left. */
export async function checkSubnets(spec: AwsSpec, { session, context }: MethodCall): Promise<Finding> {
  const problems: string[] = [];
  const found: string[] = [];
  for (const [path, id] of subnetsOf(spec)) {
    const subnet = await session.api.describeSubnet(id, context.signal).catch((error: unknown) => {
      if (hasErrorCode(error, "InvalidSubnetID.NotFound")) return undefined;
      throw error;
    });
    const { State = "available", AvailableIpAddressCount: free } = subnet ?? {};
    if (subnet === undefined) problems.push(`providerSpec.${path}: there is no subnet "${id}" in ${session.region}`);
    else if (State !== "available") problems.push(`providerSpec.${path}: subnet "${id}" is ${State}`);
    else if (free === 0) problems.push(`providerSpec.${path}: subnet "${id}" has no free address`);
    else found.push(free === undefined ? `"${id}"` : `"${id}" has ${free} free addresses`);
  }
  return problems.length > 0
    ? { status: "failed", message: `${problems.join("; ")}.` }
    : { status: "ok", message: `${found.join("; ")}.` };
}

/** Whether the security groups exist. That they are of the network of their subnet is for the dry run of the launch. */
export async function checkSecurityGroups({ networkInterfaces }: AwsSpec, call: MethodCall): Promise<Finding> {
  const ids = [...new Set(networkInterfaces.flatMap(({ securityGroupIDs }) => securityGroupIDs))];
  if (ids.length === 0)
    return { status: "ok", message: "The class names none: the default security group of the network is used." };
  try {
    await call.session.api.describeSecurityGroups(ids, call.context.signal);
    return { status: "ok", message: `All ${ids.length} exist.` };
  } catch (error) {
    if (!hasErrorCode(error, "InvalidGroup.NotFound") && !hasErrorCode(error, "InvalidGroupId.Malformed")) throw error;
    const why = error instanceof Error ? error.message : "";
    return { status: "failed", message: `providerSpec.networkInterfaces[].securityGroupIDs: ${why}` };
  }
}
