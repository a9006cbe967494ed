import type { RequestListener, Server } from "node:http";
import { getBuiltinModule } from "node:process";
import { ConfigError } from "@millwright/base";
import type { Credentials } from "../tls/certificate-authority.ts";

/** The address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A listening server. */
export interface RunningServer {
  readonly port: number;
  /** Ends all connections and stops listening. */
  stop(): Promise<void>;
}

/** How long a client may take for its handshake, milliseconds. */
const HANDSHAKE_MS = 10_000;

/** Listens, over TLS when there are credentials. Rejects with a ConfigError that names the port when it is in use. */
export function runServer(
  { host, port }: Address,
  tls: (Credentials & { readonly authorityPem: string }) | undefined,
  listener: RequestListener,
  handshakeTimeout = HANDSHAKE_MS,
): Promise<RunningServer> {
  const options = { keepAliveTimeout: 60_000, maxHeaderSize: 64 * 1024 };
  const server =
    tls === undefined
      ? getBuiltinModule("node:http").createServer(options, listener)
      : getBuiltinModule("node:https").createServer({ ...options, ...secureOptions(tls), handshakeTimeout }, listener);
  server.requestTimeout = 60_000;
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, host, port)));
    server.listen({ port, host }, () => {
      server.removeAllListeners("error");
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : port;
      resolve({ port: bound, stop: () => stop(server) });
    });
  });
}

/** Clients are asked for a certificate and served without one; authentication decides for each request. */
function secureOptions({ certificatePem, keyPem, authorityPem }: Credentials & { readonly authorityPem: string }) {
  return { cert: certificatePem, key: keyPem, ca: authorityPem, requestCert: true, rejectUnauthorized: false };
}

function stop(server: Pick<Server, "close" | "closeAllConnections">): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listenError(error: Error, host: string, port: number): Error {
  const code = "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new ConfigError(`API server: port ${port} of ${host} is in use; choose another port, or 0 for a free one`, {
      cause: error,
    });
  }
  if (code === "EACCES" || code === "ERR_SOCKET_BAD_PORT") {
    return new ConfigError(`API server: cannot listen on port ${port} of ${host}; choose a port from 1024 to 65535`, {
      cause: error,
    });
  }
  return error;
}
