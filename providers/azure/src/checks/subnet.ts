import { fieldOf } from "@millwright/core/driver-kit";
import { subnetIdOf } from "../launch/resource-ids.ts";
import type { AzureSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** Whether the subnet exists and is ready. */
export async function checkSubnet(spec: AzureSpec, { session, context }: MethodCall): Promise<Finding> {
  const { vnetName, subnetName } = spec.subnetInfo;
  const subnet = await session.api.getResource(
    "Microsoft.Network/virtualNetworks",
    subnetIdOf(session.subscriptionId, spec),
    context.signal,
  );
  if (subnet === undefined)
    return {
      status: "failed",
      message: `providerSpec.subnetInfo: there is no subnet "${subnetName}" in network "${vnetName}".`,
    };
  const state = fieldOf(fieldOf(subnet, "properties"), "provisioningState");
  if (state === "Failed" || state === "Deleting")
    return { status: "failed", message: `providerSpec.subnetInfo: subnet "${subnetName}" is ${state}.` };
  return { status: "ok", message: `"${subnetName}" exists in network "${vnetName}".` };
}
