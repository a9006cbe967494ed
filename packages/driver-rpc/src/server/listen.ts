import { chmod, lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import type { Server } from "@grpc/grpc-js";
import { ConfigError } from "@millwright/core";
import { type DriverAddress, formatDriverAddress, grpcTarget } from "../wire/address.ts";
import { assertTrustedFolder } from "../wire/socket-folder.ts";
import { serverCredentials, type TlsFiles } from "../wire/credentials.ts";

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

/**
 * Starts to listen. A unix socket is for the user of this process only, unless `socketMode` differs.
 *
 * @returns the port; 0 for a unix socket
 * @throws ConfigError when the address cannot be used
 */
export async function listen(
  server: Server,
  address: DriverAddress,
  tls: TlsFiles | undefined,
  socketMode: number,
): Promise<number> {
  await assertTrustedFolder(address);
  const credentials = await serverCredentials(address, tls);
  if (address.kind === "unix") await removeStaleSocket(address.path);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(grpcTarget(address), credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else
        reject(new ConfigError(`cannot listen on ${formatDriverAddress(address)}: ${error.message}`, { cause: error }));
    });
  });
  if (address.kind === "unix") await chmod(address.path, socketMode);
  return address.kind === "unix" ? 0 : port;
}
