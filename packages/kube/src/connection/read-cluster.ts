import { proxyFor, readProxyUrl } from "@millwright/base/egress";
import { ConfigError } from "@millwright/base";
import type { Cluster, Context, User } from "@kubernetes/client-node";
import type { ClusterConfig, TlsMaterial } from "./cluster-config.ts";
import { followPemFile } from "./followed-file.ts";
import type { FollowedFile } from "./followed-file.ts";
import { followTls } from "./followed-tls.ts";
import type { TlsFiles } from "./followed-tls.ts";
import type { KubeConfigContent, KubeConfigFiles } from "./kube-config-files.ts";
import { findForbidden, type KubeConfigLimits } from "./untrusted-kube-config.ts";
import { credentialsOf } from "./user-credentials.ts";

/** What {@link readCluster} needs. */
export interface ReadClusterOptions extends KubeConfigFiles {
  /** Start of each message. */
  readonly where: string;
  /** Left out: the current context. */
  readonly context: string | undefined;
  /** What a kubeconfig from outside may have; undefined for one that may have everything. */
  readonly limits: KubeConfigLimits | undefined;
  /** Where the first kubeconfig is. */
  readonly folder: string;
  /** What plug-ins are run with. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Ends with a ConfigError that names the kubeconfig. */
type Fail = (text: string) => never;

/**
 * The cluster, the user and the namespace of a context.
 *
 * @throws ConfigError in one line that names the field and what is expected
 */
export async function readCluster(options: ReadClusterOptions): Promise<ClusterConfig> {
  const { kubeConfig, users, execConfigs, where, env } = options;
  const fail: Fail = (text) => {
    throw new ConfigError(`${where}: ${text}`);
  };
  const { context, cluster, user } = contextOf(kubeConfig, options.context, fail);
  const { server } = cluster;
  if (!isHttpUrl(server)) {
    return fail(`cluster "${cluster.name}": server ${JSON.stringify(server)} is not a URL; expected https://host:port`);
  }
  const { limits, folder } = options;
  const details = user && users.get(user.name);
  const forbidden = limits && findForbidden({ cluster, user, tokenFile: details?.tokenFile, folder }, limits);
  if (forbidden !== undefined) return fail(forbidden);
  const proxyUrl = proxyOf(cluster, where, env);
  const { tls, files } = await readTls(cluster, user, where, fail);
  const execConfig = execConfigs.get(cluster.name);
  const credentials = user && credentialsOf({ user, cluster, execConfig, details, where, tls, env });
  return {
    server,
    ...(context.namespace ? { namespace: context.namespace } : {}),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(Object.keys(files).length === 0 ? {} : { currentTls: followTls(tls, files) }),
    ...(limits === undefined || limits.allowed.includes("link-local") ? {} : { rejectsLinkLocal: true }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/** As in kubectl, NO_PROXY applies only to the proxy of the environment. */
function proxyOf({ name, server, proxyUrl }: Cluster, where: string, env: ReadClusterOptions["env"]) {
  return proxyUrl
    ? readProxyUrl(proxyUrl, `${where}: cluster "${name}": proxy-url`).href
    : proxyFor(new URL(server), env)?.href;
}

/** A context, and what it names. */
function contextOf(
  { contexts, clusters, users, currentContext }: KubeConfigContent,
  wanted: string | undefined,
  fail: Fail,
): { readonly context: Context; readonly cluster: Cluster; readonly user: User | undefined } {
  const names = contexts.map((context) => context.name);
  const name = wanted ?? currentContext;
  if (name === undefined || name === "") return fail(`current-context is not set; expected one of ${quoted(names)}`);
  const context = contexts.find((each) => each.name === name);
  if (context === undefined) return fail(`context "${name}" does not exist; expected one of ${quoted(names)}`);

  const cluster = clusters.find((each) => each.name === context.cluster);
  if (cluster === undefined) {
    return fail(`context "${name}" names the cluster "${context.cluster}", which is not under clusters`);
  }
  if (!context.user) return { context, cluster, user: undefined };
  const user = users.find((each) => each.name === context.user);
  if (user === undefined) return fail(`context "${name}" names the user "${context.user}", which is not under users`);
  return { context, cluster, user };
}

/** The TLS material as it is now, and the files that it came from. */
async function readTls(
  cluster: Cluster,
  user: User | undefined,
  where: string,
  fail: Fail,
): Promise<{ readonly tls: TlsMaterial; readonly files: TlsFiles }> {
  const files: { -readonly [Part in keyof TlsFiles]: FollowedFile } = {};
  const material = async (part: keyof TlsFiles, field: string, file: string | undefined, data: string | undefined) => {
    // For client-go, an empty field is not set, and data overrides a file (clientcmd/api/v1).
    if (data) return decodePem(data, field, fail);
    if (!file) return undefined;
    const follow = followPemFile(file, `${where}: ${field}`);
    files[part] = follow;
    return follow();
  };
  const ca = await material("ca", `cluster "${cluster.name}": certificate-authority`, cluster.caFile, cluster.caData);
  const cert = await material("cert", `user "${user?.name}": client-certificate`, user?.certFile, user?.certData);
  const key = await material("key", `user "${user?.name}": client-key`, user?.keyFile, user?.keyData);
  if ((cert === undefined) !== (key === undefined)) {
    return fail(`user "${user?.name}": client-certificate and client-key must be set together`);
  }
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(cluster.tlsServerName ? { serverName: cluster.tlsServerName } : {}),
    ...(cluster.skipTLSVerify ? { insecureSkipVerify: true } : {}),
  };
  return { tls, files };
}

function decodePem(data: string, field: string, fail: Fail): string {
  const pem = Buffer.from(data, "base64").toString("utf8");
  if (!pem.includes("-----BEGIN")) return fail(`${field}-data is not a PEM block in base64`);
  return pem;
}

function isHttpUrl(url: unknown): url is string {
  return typeof url === "string" && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

function quoted(names: readonly string[]): string {
  return names.length === 0 ? "none (the file has no contexts)" : names.map((name) => `"${name}"`).join(", ");
}
