import { goObject } from "@millwright/core";
import { type AddIssue, withFallbackValues } from "@millwright/core/driver-kit";
import * as z from "zod";
import { optionalText } from "./absent-text.ts";

const networkInterfaceShape = {
  subnetID: z
    .string()
    .min(1, "must not be empty")
    .max(2_048)
    .describe("Subnet of the interface, and by it the zone of the VM."),
  securityGroupIDs: z
    .array(z.string().max(2_048).regex(/\S/, "must not be blank"))
    .min(1, "must name at least one security group")
    .describe("Security groups."),
  associatePublicIPAddress: z
    .boolean()
    .describe("Whether the interface gets a public address; the subnet decides by default.")
    .optional(),
  deleteOnTermination: z.boolean().describe("Whether the interface is deleted with the VM.").default(true),
  description: optionalText(z.string().max(2_048)).describe("Description of the interface."),
  deviceIndex: z.int32().min(0).describe("Position; that in the list by default.").optional(),
  networkCardIndex: z.int32().min(0).describe("Network card.").optional(),
  interfaceType: optionalText(z.enum(["interface", "efa", "efa-only"])).describe("Type of the interface."),
  ipv6AddressCount: z.int32().min(0).describe("IPv6 addresses.").optional(),
  ipv6PrefixCount: z.int32().min(0).describe("IPv6 prefixes, assigned once the VM exists.").optional(),
  primaryIpv6: z
    .boolean()
    .describe("Whether the first IPv6 address is primary; `true` with `ipv6AddressCount`.")
    .optional(),
};

/** Schema of an entry of `networkInterfaces`. */
export const networkInterfaceSchema = goObject(networkInterfaceShape);

/** The same of a class whose VM is only looked for: what is valid of it. */
export const networkInterfaceOfVmSchema = goObject(
  withFallbackValues(networkInterfaceShape, [], { subnetID: "", securityGroupIDs: [] }),
);

/** An entry of `networkInterfaces`. */
export type NetworkInterface = Readonly<z.output<typeof networkInterfaceSchema>>;

/** Where an interface is attached. */
export interface InterfacePlace {
  readonly deviceIndex: number;
  readonly networkCardIndex: number;
}

/** Where the entry at an index of `networkInterfaces` is attached. */
export const placeOf = ({ deviceIndex, networkCardIndex }: NetworkInterface, index: number): InterfacePlace => ({
  deviceIndex: deviceIndex ?? index,
  networkCardIndex: networkCardIndex ?? 0,
});

/** Rules over the entries of `networkInterfaces`. */
export function checkNetworkInterfaces(interfaces: readonly NetworkInterface[], addIssue: AddIssue): void {
  const taken = new Set<string>();
  for (const [index, card] of interfaces.entries()) {
    const { deviceIndex, networkCardIndex } = placeOf(card, index);
    const place = `${networkCardIndex}/${deviceIndex}`;
    if (taken.has(place)) {
      addIssue(
        ["networkInterfaces", index, "deviceIndex"],
        `must be unique on its network card, ${deviceIndex} is taken`,
      );
    }
    taken.add(place);
  }
}
