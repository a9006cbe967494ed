import { readNetwork, readSubnetwork } from "../spec/network-paths.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { type Finding, findingOf } from "./finding.ts";

/** Whether the networks and subnetworks of all interfaces exist. */
export async function checkNetworks(
  { networkInterfaces, region }: GcpSpec,
  { session, context }: MethodCall,
): Promise<Finding> {
  const { api, project } = session;
  const problems: string[] = [];
  for (const [index, { network, subnetwork }] of networkInterfaces.entries()) {
    const at = `networkInterfaces[${index}]`;
    const nodes = subnetwork === "" ? undefined : readSubnetwork(subnetwork, project, region);
    const whole = subnetwork === "" ? readNetwork(network, project) : undefined;
    if (nodes !== undefined) {
      const path = `${nodes.project}/regions/${nodes.region}/subnetworks/${nodes.name}`;
      const found = await api.getResource("subnetwork_get", path, context.signal);
      const place = nodes.project === project ? nodes.region : `${nodes.region} of project "${nodes.project}"`;
      if (found === undefined) problems.push(`${at}.subnetwork: there is no subnetwork "${nodes.name}" in ${place}`);
    } else if (whole !== undefined) {
      const path = `${whole.project}/global/networks/${whole.name}`;
      const found = await api.getResource("network_get", path, context.signal);
      if (found === undefined)
        problems.push(`${at}.network: there is no network "${whole.name}" in project "${whole.project}"`);
    }
  }
  return findingOf(problems, "All networks of the interfaces exist.");
}
