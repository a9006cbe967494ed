import type { Socket } from "node:net";
import { type Route, tunnelTo } from "./tunnel-to.ts";

/** What undici hands to a connector. */
interface ConnectOptions {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
}

/** A connector of undici, as its `buildConnector` makes it. */
type Connector<Options extends ConnectOptions> = (
  options: Options & { readonly httpSocket?: Socket },
  callback: (...result: [null, Socket] | [Error, null]) => void,
) => void;

/**
 * Makes a connector for the `connect` option of undici's clients: one that goes through a proxy.
 *
 * @param connect the connector for what goes through none; it also does TLS within a tunnel
 */
export function createEgressConnector<Options extends ConnectOptions>(
  connect: Connector<Options>,
  { proxyOf, ca }: Pick<Route, "proxyOf" | "ca">,
): Connector<Options> {
  return (options, settle) => {
    const { hostname, protocol, port } = options;
    const tunnel = tunnelTo({ protocol, host: hostname, port, proxyOf, ca });
    if (tunnel === undefined) {
      connect(options, settle);
      return;
    }
    const connectWithin = (httpSocket: Socket): void =>
      protocol === "https:" ? connect({ ...options, httpSocket }, settle) : settle(null, httpSocket);
    tunnel.then(connectWithin, (error: Error) => settle(error, null));
  };
}
