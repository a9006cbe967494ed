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
    if (subnetwork !== "") {
      const path = `${project}/regions/${region}/subnetworks/${subnetwork}`;
      const found = await api.getResource("subnetwork_get", path, context.signal);
      if (found === undefined) problems.push(`${at}.subnetwork: there is no subnetwork "${subnetwork}" in ${region}`);
    } else if (network !== "") {
      const found = await api.getResource("network_get", `${project}/global/networks/${network}`, context.signal);
      if (found === undefined) problems.push(`${at}.network: there is no network "${network}" in project "${project}"`);
    }
  }
  return findingOf(problems, "All networks of the interfaces exist.");
}
