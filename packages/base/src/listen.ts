import { once } from "node:events";
import type { Server } from "node:net";

/** Where a server listens. */
export interface ListenAddress {
  /** An IP address of this machine; `::` is all of them, of both families where the machine has both. */
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Starts to listen; resolves with the port. Rejects with the error of the system. */
export async function listen(server: Server, { address, port }: ListenAddress): Promise<number> {
  // Without a host, Node listens on IPv4 where the machine has no IPv6.
  server.listen({ port, ...(address === "::" ? {} : { host: address }) });
  await once(server, "listening");
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : port;
}

/** An address with a port as a user writes it: one of IPv6 is in brackets. */
export const formatAddress = ({ address, port }: ListenAddress): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port}`;
