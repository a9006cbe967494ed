import { ConfigError, isRecord, systemClock } from "@millwright/base";
import type { Cluster, User } from "@kubernetes/client-node";
import { authProviderToken } from "./auth-provider.ts";
import type { ClusterConfig, TlsMaterial } from "./cluster-config.ts";
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
 * How a user proves who it is, as in client-go: a token file, a token, a password, an `exec` program or an `auth-provider`; undefined for none but client certificates.
 *
 * @throws ConfigError for more than one of these, and for an `exec` entry or `auth-provider` that cannot be used
 */
export function credentialsOf(entry: UserEntry): ClusterConfig["credentials"] {
  const { user, details } = entry;
  const where = `${entry.where}: user "${user.name}"`;
  checkMethods(user, where);
  const impersonate = impersonationHeaders(details?.entry ?? {}, where);
  if (isProgram(entry)) return execCredentials(entry, user.exec, impersonate);
  const authorization = authorizationOf(entry, where);
  if (authorization !== undefined) return async () => ({ headers: { ...impersonate, authorization: authorization() } });
  return Object.keys(impersonate).length === 0 ? undefined : async () => ({ headers: impersonate });
}

/** As for kubectl, what is not used may not contradict what is. */
function checkMethods({ token, username, password, exec, authProvider }: User, where: string): void {
  if (token && (username || password))
    throw new ConfigError(`${where}: token and username or password are both set; keep one`);
  if (isRecord(exec) && isRecord(authProvider))
    throw new ConfigError(`${where}: exec and auth-provider are both set; keep exec`);
}

const isProgram = ({ user, details }: UserEntry): boolean =>
  isRecord(user.exec) && details?.tokenFile === undefined && !user.token && !user.username;

/** The header of that name as it is now. */
function authorizationOf({ user, details }: UserEntry, where: string): (() => string) | undefined {
  const provided = isRecord(user.authProvider) ? authProviderToken(user.authProvider, where, systemClock) : undefined;
  const token = user.token ? user.token.trim() : undefined;
  const file = details?.tokenFile;
  if (file !== undefined) {
    const followed = followTokenFile(file, `${where}: tokenFile`);
    const read = (): string => {
      try {
        return followed();
      } catch (error) {
        if (token === undefined) throw error;
        return token;
      }
    };
    return () => `Bearer ${read()}`;
  }
  if (token !== undefined) return () => `Bearer ${token}`;
  if (user.username) {
    const basic = Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64");
    return () => `Basic ${basic}`;
  }
  return provided === undefined ? undefined : () => `Bearer ${provided()}`;
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
