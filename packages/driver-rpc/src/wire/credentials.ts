import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type ChannelCredentials, credentials, ServerCredentials } from "@grpc/grpc-js";
import { ConfigError } from "@millwright/core";
import type { DriverAddress } from "./address.ts";

/** Files of TLS in PEM. Both sides authenticate: each checks the certificate of the other with `ca`. */
export interface TlsFiles {
  /** Certificates of the authorities that sign the certificates of the other side. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ConfigError(`cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

const readAll = ({ ca, cert, key }: TlsFiles): Promise<readonly [Buffer, Buffer, Buffer]> =>
  Promise.all([readPem(ca), readPem(cert), readPem(key)]);

const needsTls = (address: DriverAddress): boolean => address.kind === "tcp" && address.tls;

function requiredFiles(tls: TlsFiles | undefined): TlsFiles {
  if (tls === undefined)
    throw new ConfigError("grpcs:// requires files of TLS: certificate, key, and certificates of the other side");
  return tls;
}

/** @throws ConfigError when files of TLS are missing or cannot be read */
export async function clientCredentials(
  address: DriverAddress,
  tls: TlsFiles | undefined,
): Promise<ChannelCredentials> {
  // A unix socket is protected by its permissions; plain TCP is of this machine.
  if (!needsTls(address)) return credentials.createInsecure();
  const [ca, cert, key] = await readAll(requiredFiles(tls));
  try {
    // Each certificate of the file is trusted as in Go, also one that another authority has signed.
    return credentials.createFromSecureContext(createSecureContext({ ca, key, cert, allowPartialTrustChain: true }));
  } catch (cause) {
    throw new ConfigError(`the files of TLS cannot be used: ${String(cause)}`, { cause });
  }
}

/** @throws ConfigError when files of TLS are missing or cannot be read */
export async function serverCredentials(address: DriverAddress, tls: TlsFiles | undefined): Promise<ServerCredentials> {
  if (!needsTls(address)) return ServerCredentials.createInsecure();
  const [ca, cert, key] = await readAll(requiredFiles(tls));
  return ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true);
}
