import { goObject } from "@millwright/core";
import type { AddIssue } from "@millwright/core/driver-kit";
import * as z from "zod";

/** Schema of an entry of `networkInterfaces`. */
export const networkInterfaceSchema = goObject({
  network: z.string().describe("Network of the project; at least one of `network` and `subnetwork`.").default(""),
  subnetwork: z.string().describe("Subnetwork of the region.").default(""),
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
export function checkNetworkInterfaces(interfaces: readonly NetworkInterface[], addIssue: AddIssue): void {
  for (const [index, { network, subnetwork }] of interfaces.entries()) {
    if (network === "" && subnetwork === "") {
      addIssue(["networkInterfaces", index], "must have a network or a subnetwork");
    }
  }
}
