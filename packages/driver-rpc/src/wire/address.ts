import { isIP } from "node:net";
import { isAbsolute } from "node:path";
import { ConfigError } from "@millwright/base";

/** Where a driver listens: a unix socket, or a port, with TLS unless it is one of this machine. */
export type DriverAddress =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls: boolean };

const expectation = "expected unix:///path, grpcs://host:port, or grpc://127.0.0.1:port";

/** The longest path that a socket can have on Linux, in bytes; macOS allows four fewer. */
const MAX_SOCKET_PATH = 103;

/** Whether only processes of this machine can connect. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/**
 * Reads an address. `grpc://` is plain TCP, which is accepted for this machine only: calls contain credentials.
 *
 * @throws ConfigError in one line for anything else
 */
export function readDriverAddress(text: string): DriverAddress {
  const unix = /^unix:(?:\/\/)?(.+)$/i.exec(text)?.[1];
  if (unix !== undefined) {
    if (!isAbsolute(unix)) throw new ConfigError(`address ${text}: the path must start with /; expected unix:///path`);
    if (Buffer.byteLength(unix) > MAX_SOCKET_PATH)
      throw new ConfigError(`address ${text}: the path has more than ${MAX_SOCKET_PATH} bytes`);
    return { kind: "unix", path: unix };
  }
  const [, scheme, authority, digits] = /^(grpcs?):\/\/(\[[0-9a-f:]+\]|[^\s:/@?#]+):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (scheme === undefined || authority === undefined || !(port <= 65_535))
    throw new ConfigError(`address ${text}: ${expectation}`);
  const host = authority.replaceAll(/[[\]]/g, "").toLowerCase();
  const tls = scheme.toLowerCase() === "grpcs";
  if (!tls && !isLoopback(host))
    throw new ConfigError(
      `address ${text}: calls contain credentials; expected grpcs:// with TLS, or an address of this machine`,
    );
  return { kind: "tcp", host, port, tls };
}

/** The address as gRPC names it, which is also unambiguous for users. */
export const grpcTarget = (address: DriverAddress): string =>
  address.kind === "unix"
    ? `unix:${address.path}`
    : `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;

/** The address as a user writes it. */
export const formatDriverAddress = (address: DriverAddress): string =>
  address.kind === "unix" ? `unix://${address.path}` : `grpc${address.tls ? "s" : ""}://${grpcTarget(address)}`;
