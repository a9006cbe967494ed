import { ConfigError, isRecord } from "@millwright/base";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { firstLine, messageOf } from "../log.ts";
import type { ClusterConfig, Credentials, TlsMaterial } from "./cluster-config.ts";
import { createExecCredentials } from "./exec-credentials.ts";
import { followTokenFile } from "./followed-file.ts";
import { impersonationHeaders, type RequestHeaders } from "./impersonation.ts";
import type { UserDetails } from "./kube-config-files.ts";
import { readExecPlugin } from "./read-exec-plugin.ts";

/** A user of a kubeconfig, and what its credentials are made from. */
export interface UserEntry {
  readonly user: User;
  readonly cluster: Cluster;
  /** What an `exec` program gets of the cluster beside its fields. */
  readonly execConfig: unknown;
  readonly tls: TlsMaterial;
  readonly details: UserDetails | undefined;
  readonly where: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * How a user proves who it is: a token file, a token or a password, an `exec` program, the plug-in of a cloud, in this order, as in client-go; undefined for
 * none but client certificates.
 *
 * @throws ConfigError for an `exec` entry that cannot be read
 */
export function credentialsOf(entry: UserEntry): ClusterConfig["credentials"] {
  const { user, where } = entry;
  const tokenFile = entry.details?.tokenFile;
  const impersonate = impersonationHeaders(entry.details?.entry ?? {}, `${where}: user "${user.name}"`);
  if (tokenFile !== undefined) {
    const token = followTokenFile(tokenFile, `${where}: user "${user.name}": tokenFile`);
    return async () => ({ headers: { ...impersonate, authorization: `Bearer ${await token()}` } });
  }
  const authorization = user.token
    ? `Bearer ${user.token.trim()}`
    : user.username
      ? `Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}`
      : undefined;
  if (authorization === undefined && isRecord(user.exec)) return execCredentials(entry, user.exec, impersonate);
  if (authorization === undefined && isRecord(user.authProvider)) return pluginCredentials(entry, impersonate);
  const headers = { ...impersonate, ...(authorization === undefined ? {} : { authorization }) };
  return Object.keys(headers).length === 0 ? undefined : async () => ({ headers });
}

function execCredentials(
  { user, cluster, execConfig, details, tls, where, env }: UserEntry,
  exec: Readonly<Record<string, unknown>>,
  headers: RequestHeaders,
): ClusterConfig["credentials"] {
  const place = `${where}: user "${user.name}"`;
  // Source: client-go, `ConfigToExecCluster` and client.authentication.k8s.io/v1, `Cluster`.
  const info = {
    server: cluster.server,
    ...(tls.serverName === undefined ? {} : { "tls-server-name": tls.serverName }),
    ...(tls.insecureSkipVerify === true ? { "insecure-skip-tls-verify": true } : {}),
    ...(tls.ca === undefined ? {} : { "certificate-authority-data": Buffer.from(tls.ca).toString("base64") }),
    ...(cluster.proxyUrl ? { "proxy-url": cluster.proxyUrl } : {}),
    ...(execConfig === undefined ? {} : { config: execConfig }),
  };
  const plugin = readExecPlugin(exec, place, { cluster: info, folder: details?.folder });
  return createExecCredentials({ plugin, where: place, env, headers });
}

/** Credentials of a cloud's tool (`auth-provider`). client-node, which is loaded whole for it, fetches them and keeps them until they expire. */
function pluginCredentials(
  { user, cluster, where }: UserEntry,
  impersonate: RequestHeaders,
): () => Promise<Credentials> {
  let underway: Promise<Credentials> | undefined;
  let loaded: Promise<KubeConfig> | undefined;
  const load = async (): Promise<KubeConfig> => {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(cluster, user);
    return kubeConfig;
  };
  const ask = async (): Promise<Credentials> => {
    const answer: { headers?: Record<string, unknown>; cert?: unknown; key?: unknown } = {};
    try {
      await (await (loaded ??= load())).applyToHTTPSOptions(answer);
    } catch (cause) {
      throw new ConfigError(
        `${where}: user "${user.name}": the credential plug-in failed: ${firstLine(messageOf(cause))}`,
        {
          cause,
        },
      );
    }
    const headers = Object.fromEntries(
      Object.entries(answer.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
    return {
      headers: { ...headers, ...impersonate },
      ...(typeof answer.cert === "string" ? { cert: answer.cert } : {}),
      ...(typeof answer.key === "string" ? { key: answer.key } : {}),
    };
  };
  // Requests that come while the program runs share its answer: one browser window, not sixteen.
  return () => (underway ??= ask().finally(() => (underway = undefined)));
}
