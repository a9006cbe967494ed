import { BlockList, isIP } from "node:net";
import type { Clock } from "@millwright/base";
import { machineResource } from "@millwright/core/machine-api";
import type { ApiClient } from "@millwright/kube";
import { createTokenGate, reviewToken, type TokenGate } from "@millwright/kube/endpoints";

/** Who may read. */
export interface AccessOptions {
  /** The IP address that is listened on: on a loopback address no token is needed. */
  readonly address: string;
  /** Reviews tokens, with the API server of the machines: a client of its own, so that strangers do not delay the requests of the controllers. */
  readonly reviewClient: Pick<ApiClient, "request">;
  /** Namespaces in which a user must be allowed to get machines. */
  readonly namespaces: readonly string[];
  readonly clock: Pick<Clock, "monotonicMs">;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether an IP address is reached from this machine only. */
export const isLoopback = (address: string): boolean => loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** The host of a `Host` header without its port. */
const hostOf = (header: string): string => header.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");

/** A web page of a name that an attacker resolves to this machine has another host (DNS rebinding). */
const isLocalHost = (host: string): boolean => host === "localhost" || (isIP(host) !== 0 && isLoopback(host));

/** Decides whether requests are answered. */
export function createAccess({ address, reviewClient, namespaces, clock }: AccessOptions): TokenGate {
  if (isLoopback(address))
    return ({ headers }) =>
      Promise.resolve(
        isLocalHost(hostOf(headers.host ?? "")) ? undefined : { status: 403, text: "the host is not this machine" },
      );
  const { group, plural: resource } = machineResource;
  const required = namespaces.map((namespace) => ({
    attributes: { resourceAttributes: { verb: "get", group, resource, namespace } },
    action: `get machines in namespace ${namespace}`,
  }));
  return createTokenGate({ review: (token) => reviewToken(reviewClient, token, required), clock });
}
