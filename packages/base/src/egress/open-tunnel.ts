import type { Socket } from "node:net";
import { getBuiltinModule } from "node:process";
import { proxyName } from "./proxy-url.ts";

/** Where a tunnel ends. */
export interface TunnelTarget {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Options of {@link openTunnel}. */
export interface TunnelOptions {
  /** Certificates to trust in addition to those of the system, as PEM, if the proxy is `https`. */
  readonly ca?: string;
  /** Timeout for the connection through the proxy, milliseconds. Default 10 s. */
  readonly timeoutMs?: number;
}

/** The code of errors of the proxy, not of the target. */
export const proxyErrorCode = "EPROXY";

const defaultTimeoutMs = 10_000;
/** A dead connection is detected after this time, plus the probes of the system. */
const keepAliveMs = 30_000;

/**
 * Opens a connection to a target through a proxy: with `CONNECT` (RFC 9110, 9.3.6) for `http` and `https` proxies, with SOCKS 5 for others. The target sees plain bytes: TLS is for the caller.
 *
 * @throws Error with the code {@link proxyErrorCode}, which names the proxy without its password
 */
export async function openTunnel(proxy: URL, target: TunnelTarget, options: TunnelOptions = {}): Promise<Socket> {
  const socket = await (proxy.protocol.startsWith("socks") ? throughSocks : throughConnect)(proxy, target, options);
  return socket.setKeepAlive(true, keepAliveMs).setNoDelay(true);
}

const addressOf = ({ host, port }: TunnelTarget): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

const portOf = (proxy: URL, standard: number): number => (proxy.port === "" ? standard : Number(proxy.port));

/** `::1` from `[::1]`. */
const hostOf = (proxy: URL): string => proxy.hostname.replace(/^\[(.*)\]$/, "$1");

function proxyError(proxy: URL, text: string, cause?: unknown): Error {
  return Object.assign(new Error(`proxy ${proxyName(proxy)} ${text}`, { cause }), { code: proxyErrorCode });
}

const unreachable = (proxy: URL, cause: unknown): Error => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return proxyError(proxy, `is unreachable${code === "" ? "" : ` (${code})`}`, cause);
};

async function throughConnect(proxy: URL, target: TunnelTarget, options: TunnelOptions): Promise<Socket> {
  const isSecure = proxy.protocol === "https:";
  const { request: send } = isSecure ? getBuiltinModule("node:https") : getBuiltinModule("node:http");
  const secureContext = isSecure ? (await import("../tls/index.ts")).systemContext(options.ca) : undefined;
  const address = addressOf(target);
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const { timeoutMs = defaultTimeoutMs } = options;
  return new Promise((resolve, reject) => {
    const request = send({
      method: "CONNECT",
      host: hostOf(proxy),
      port: portOf(proxy, isSecure ? 443 : 80),
      path: address,
      agent: false,
      timeout: timeoutMs,
      headers: {
        host: address,
        ...(proxy.username === ""
          ? {}
          : { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
      },
      ...(secureContext === undefined ? {} : { secureContext }),
    });
    request.on("connect", ({ statusCode = 0 }, socket, head) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        reject(proxyError(proxy, rejection(statusCode, address)));
        return;
      }
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on("response", (response) => {
      response.destroy();
      reject(proxyError(proxy, rejection(response.statusCode ?? 0, address)));
    });
    request.on("timeout", () => {
      request.destroy(proxyError(proxy, `did not connect to ${address} within ${timeoutMs} ms`));
    });
    request.on("error", (error) => {
      reject("code" in error && error.code === proxyErrorCode ? error : unreachable(proxy, error));
    });
    request.end();
  });
}

function rejection(status: number, address: string): string {
  const response = `responded with ${status} to CONNECT ${address}`;
  if (status === 407) return `${response}: check the user and the password in the URL of the proxy`;
  if (status === 401 || status === 403) return `${response}: the proxy does not allow this destination`;
  if (status >= 500) return `${response}: the destination is unreachable from the proxy`;
  return response;
}

async function throughSocks(proxy: URL, target: TunnelTarget, options: TunnelOptions): Promise<Socket> {
  const { SocksClient } = await import("socks");
  try {
    const { socket } = await SocksClient.createConnection({
      command: "connect",
      destination: target,
      timeout: options.timeoutMs ?? defaultTimeoutMs,
      proxy: {
        host: hostOf(proxy),
        port: portOf(proxy, 1080),
        type: 5,
        ...(proxy.username === ""
          ? {}
          : { userId: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) }),
      },
    });
    return socket;
  } catch (error) {
    // The error itself contains the password.
    const reason = error instanceof Error ? error.message : String(error);
    throw proxyError(proxy, `did not connect to ${addressOf(target)}: ${reason}`);
  }
}
