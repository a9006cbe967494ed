import { chmod, lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { type Server, ServerCredentials } from "@grpc/grpc-js";
import { type Clock, ConfigError } from "@millwright/base";
import { createTlsServer, listen as listenOn, type TlsFiles, type TlsLog } from "@millwright/core/tls";
import { type DriverAddress, formatDriverAddress, grpcTarget } from "../wire/address.ts";
import { assertTrustedFolder } from "../wire/socket-folder.ts";
import { needsTls, requiredFiles } from "../wire/credentials.ts";

const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const end = (served: boolean): void => {
      socket.destroy();
      resolve(served);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });

/** Removes the socket of a process that ended without removing it. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new ConfigError(`cannot listen on unix://${path}: the file exists and must be a socket`);
  if (await isServed(path)) throw new ConfigError(`cannot listen on unix://${path}: another process does`);
  await unlink(path);
}

/** How a server listens. */
export interface ListenOptions {
  readonly tls: TlsFiles | undefined;
  /** Permissions of a unix socket. */
  readonly socketMode: number;
  readonly clock: Clock;
  readonly log: TlsLog;
}

/** A server that listens. */
export interface Listening {
  /** 0 for a unix socket. */
  readonly port: number;
  /** Accepts no connections any more; to be called before the server is shut down. */
  stop(): void;
}

const unusable = (address: DriverAddress, cause: Error): ConfigError =>
  new ConfigError(`cannot listen on ${formatDriverAddress(address)}: ${cause.message}`, { cause });

/** gRPC gets connections whose clients were verified. */
async function listenWithTls(
  server: Server,
  address: Extract<DriverAddress, { kind: "tcp" }>,
  options: ListenOptions,
): Promise<Listening> {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = createTlsServer(
    requiredFiles(options.tls),
    (socket) => injector.injectConnection(socket),
    options,
  );
  const port = await listenOn(connections, { address: address.host, port: address.port }).catch((error: unknown) => {
    throw error instanceof Error ? unusable(address, error) : error;
  });
  return { port, stop: () => void connections.close() };
}

/**
 * Starts to listen. A unix socket is for the user of this process only, unless `socketMode` differs.
 *
 * @throws ConfigError when the address cannot be used
 */
export async function listen(server: Server, address: DriverAddress, options: ListenOptions): Promise<Listening> {
  await assertTrustedFolder(address);
  if (address.kind === "tcp" && needsTls(address)) return listenWithTls(server, address, options);
  if (address.kind === "unix") await removeStaleSocket(address.path);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(grpcTarget(address), ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(unusable(address, error));
    });
  });
  if (address.kind === "unix") await chmod(address.path, options.socketMode);
  return { port: address.kind === "unix" ? 0 : port, stop: () => undefined };
}
