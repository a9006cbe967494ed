import { goObject } from "@millwright/core";
import type { AddIssue } from "@millwright/core/driver-kit";
import * as z from "zod";
import { isZoneOf, placePattern } from "./names.ts";
import { readNetwork, readSubnetwork } from "./network-paths.ts";

/** Schema of an entry of `networkInterfaces`. */
export const networkInterfaceSchema = goObject({
  network: z
    .string()
    .describe(
      "Network: its name in the project, or a path such as `projects/host/global/networks/shared`. At least one of `network` and `subnetwork`.",
    )
    .default(""),
  subnetwork: z
    .string()
    .describe(
      "Subnetwork: its name in the project and region, or a path such as `projects/host/regions/europe-west1/subnetworks/nodes`. Paths are not in MCM.",
    )
    .default(""),
  disableExternalIP: z.boolean().describe("Without it the interface gets an ephemeral public address.").default(false),
  stackType: z
    .enum(["", "IPV4_IPV6", "IPV4_ONLY"])
    .describe("Addresses of the interface. Sent with `IPV4_IPV6` or `useAliasIPs`, as are the four fields below.")
    .default(""),
  ipv6accessType: z.enum(["", "EXTERNAL", "INTERNAL"]).describe("Who can reach its IPv6 addresses.").default(""),
  useAliasIPs: z.boolean().describe("Whether the interface has a range of alias addresses.").default(false),
  ipCidrRange: z
    .string()
    .regex(/^(\/([0-9]|[12][0-9]|3[0-2]))?$/, 'must be a length such as "/24"')
    .describe("Length of the alias range.")
    .default(""),
  subnetworkRangeName: z
    .string()
    .describe("Secondary range of the subnetwork that the alias range is taken from.")
    .default(""),
});

/** An entry of `networkInterfaces`. */
export type NetworkInterface = Readonly<z.output<typeof networkInterfaceSchema>>;

/** Rules over the entries of `networkInterfaces`. */
export function checkNetworkInterfaces(
  { networkInterfaces, region, zone }: { networkInterfaces: readonly NetworkInterface[]; region: string; zone: string },
  addIssue: AddIssue,
): void {
  for (const [index, { network, subnetwork }] of networkInterfaces.entries()) {
    const at = ["networkInterfaces", index];
    if (network !== "" && readNetwork(network, "") === undefined) {
      addIssue([...at, "network"], 'must be a name, or a path such as "projects/host/global/networks/shared"');
    }
    if (subnetwork !== "") checkSubnetwork(subnetwork, [...at, "subnetwork"], { region, zone }, addIssue);
    if (network === "" && subnetwork === "") {
      addIssue(at, "must have a network or a subnetwork");
    }
  }
}

/** A VM can only use subnetworks of the region of its zone (Compute Engine API reference, `NetworkInterface.subnetwork`). */
function checkSubnetwork(
  subnetwork: string,
  at: readonly (string | number)[],
  { region, zone }: { readonly region: string; readonly zone: string },
  addIssue: AddIssue,
): void {
  const path = readSubnetwork(subnetwork, "", region);
  if (path === undefined) {
    addIssue(at, 'must be a name, or a path such as "projects/host/regions/europe-west1/subnetworks/nodes"');
  } else if (placePattern.test(zone) && placePattern.test(path.region) && !isZoneOf(zone, path.region)) {
    addIssue(at, `must be in the region of zone ${zone}, not in ${path.region}`);
  }
}
