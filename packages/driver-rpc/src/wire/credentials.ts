import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { ConfigError } from "@millwright/base";
import { followingContext, followTlsFiles, type TlsFiles, type TlsLog } from "@millwright/core/tls";
import type { DriverAddress } from "./address.ts";

/** Whether both sides authenticate. A unix socket is protected by its permissions; plain TCP is of this machine. */
export const needsTls = (address: DriverAddress): boolean => address.kind === "tcp" && address.tls;

/** @throws ConfigError when there are none */
export function requiredFiles(tls: TlsFiles | undefined): TlsFiles {
  if (tls === undefined)
    throw new ConfigError("grpcs:// requires files of TLS: certificate, key, and certificates of the other side");
  return tls;
}

/** Credentials whose new connections use the files as they are then: gRPC reads the context when it connects. */
export function clientCredentials(address: DriverAddress, tls: TlsFiles | undefined, log: TlsLog): ChannelCredentials {
  if (!needsTls(address)) return credentials.createInsecure();
  const follow = followTlsFiles(requiredFiles(tls), log);
  return credentials.createFromSecureContext(followingContext(() => follow().context));
}
