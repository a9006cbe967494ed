import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { createEgressConnector } from "@millwright/base/egress";
import { explainTlsFailure, systemAuthorities, systemContext } from "@millwright/base/tls";
import type { buildConnector } from "undici";
import type { ClusterConfig, Credentials, TlsMaterial } from "./cluster-config.ts";
import { lookupWithoutLinkLocal } from "./link-local.ts";

/**
 * A peer that is gone without a word is noticed after this silence plus ten probes a second apart (libuv's setting), about
 * 40 s, of the 60 s within which a half-open connection is detected. Balancers close idle connections after 60 s at the earliest.
 */
const keepAliveInitialDelayMs = 30_000;
const connectTimeoutMs = 10_000;

/** Makes connections of undici. */
export type Connector = ReturnType<typeof createEgressConnector<buildConnector.Options>>;

/** What {@link createConnector} needs of the configuration of a cluster. */
export interface ConnectorConfig extends Pick<ClusterConfig, "server" | "rejectsLinkLocal"> {
  readonly tls: TlsMaterial | undefined;
  readonly proxy: URL | undefined;
}

const asPem = (material: string | Uint8Array): string | Buffer =>
  typeof material === "string" ? material : Buffer.from(material);

/** Whom the client trusts. Each certificate of a bundle is trusted as in Go, also one that another authority has signed. */
const trustOf = ({ ca, insecureSkipVerify }: TlsMaterial): SecureContextOptions =>
  insecureSkipVerify === true
    ? {}
    : { ca: ca === undefined ? [...systemAuthorities()] : asPem(ca), allowPartialTrustChain: true };

/** Parses the certificates and the key. */
function secureContextOf(tls: TlsMaterial, credentials: Credentials): SecureContext {
  const { cert = tls.cert, key = tls.key } = credentials;
  if (tls.insecureSkipVerify !== true && tls.ca === undefined && cert === undefined) return systemContext();
  return createSecureContext({
    ...trustOf(tls),
    ...(cert === undefined ? {} : { cert: asPem(cert) }),
    ...(key === undefined ? {} : { key: asPem(key) }),
  });
}

/** Makes what connects over TLS with these credentials, which are parsed once, and through the proxy if there is one. It resumes TLS sessions. */
export function createConnector(
  build: typeof buildConnector,
  { server, tls, proxy, rejectsLinkLocal = false }: ConnectorConfig,
  credentials: Credentials,
): Connector {
  const direct = build({
    // Without TLS, the root certificates would be loaded for nothing.
    ...(new URL(server).protocol === "https:" ? { secureContext: secureContextOf(tls ?? {}, credentials) } : {}),
    ...(tls?.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls?.insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
    ...(rejectsLinkLocal ? { lookup: lookupWithoutLinkLocal } : {}),
    allowH2: false,
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveInitialDelayMs,
  });
  const trusted = tls?.caSource ?? `the system (no certificate-authority is set for ${server})`;
  const explained: typeof direct = (options, settle) =>
    direct(options, (...result) => {
      const [error] = result;
      if (error !== null) error.message = explainTlsFailure(error.message, trusted);
      settle(...result);
    });
  const ca = tls?.ca === undefined ? undefined : asPem(tls.ca).toString();
  return createEgressConnector(explained, { proxyOf: () => proxy, ca });
}
