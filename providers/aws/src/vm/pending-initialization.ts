import type { Instance, InstanceNetworkInterface } from "@aws-sdk/client-ec2";
import { placeOf } from "../spec/network-interfaces.ts";
import type { AwsSpec } from "../spec/spec.ts";

/** What `initializeMachine` still has to do for a VM. */
export interface PendingInitialization {
  /** Interfaces whose check of source and destination has to be switched off. */
  readonly uncheckedCards: readonly string[];
  /** Interfaces that lack IPv6 prefixes, and how many. */
  readonly missingPrefixes: readonly { readonly networkInterfaceId: string; readonly count: number }[];
}

/** EFA interfaces have no such check to switch off. */
const hasSourceCheck = ({ InterfaceType = "", SourceDestCheck }: InstanceNetworkInterface): boolean =>
  InterfaceType !== "efa" && InterfaceType !== "efa-only" && SourceDestCheck !== false;

/** Compares a VM with the settings of its class that need an existing VM. An interface is identified by its card and its index there; MCM uses the index as a position in the list. */
export function pendingInitialization(
  { srcAndDstChecksEnabled, networkInterfaces }: AwsSpec,
  { NetworkInterfaces = [] }: Instance,
): PendingInitialization {
  const attached = NetworkInterfaces.filter(({ NetworkInterfaceId = "" }) => NetworkInterfaceId !== "");
  const wanted = networkInterfaces.map((card, index) => ({ card, place: placeOf(card, index) }));
  return {
    uncheckedCards:
      srcAndDstChecksEnabled === false
        ? attached.filter(hasSourceCheck).map(({ NetworkInterfaceId = "" }) => NetworkInterfaceId)
        : [],
    missingPrefixes: attached.flatMap(({ NetworkInterfaceId = "", Attachment, Ipv6Prefixes = [] }) => {
      const found = wanted.find(
        ({ place }) =>
          place.deviceIndex === Attachment?.DeviceIndex &&
          place.networkCardIndex === (Attachment.NetworkCardIndex ?? 0),
      );
      const count = (found?.card.ipv6PrefixCount ?? 0) - Ipv6Prefixes.length;
      return count > 0 ? [{ networkInterfaceId: NetworkInterfaceId, count }] : [];
    }),
  };
}
