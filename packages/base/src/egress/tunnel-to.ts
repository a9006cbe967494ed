import type { Socket } from "node:net";
import { openTunnel } from "./open-tunnel.ts";

/** Where a connection goes, and through which proxy. */
export interface Route {
  readonly protocol: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  /** Absent or empty: that of the protocol. */
  readonly port?: string | number | null | undefined;
  /** The proxy for a URL that has no path; undefined for none. */
  readonly proxyOf: (url: URL) => URL | undefined;
  /** Certificates that an `https` proxy may have in addition to those of the system, as PEM. */
  readonly ca: string | undefined;
}

/** The tunnel of a connection through a proxy; undefined for a direct connection. An invalid proxy is an error of the connection. */
export function tunnelTo({ protocol, host, port, proxyOf, ca }: Route): Promise<Socket> | undefined {
  const number = Number(port || (protocol === "https:" ? 443 : 80));
  try {
    const proxy = proxyOf(new URL(`${protocol}//${host.includes(":") ? `[${host}]` : host}:${number}`));
    return proxy && openTunnel(proxy, { host, port: number }, ca === undefined ? {} : { ca });
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}
