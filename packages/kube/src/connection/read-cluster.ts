import { proxyFor, readProxyUrl } from "@millwright/base/egress";
import { ConfigError } from "@millwright/base";
import type { Cluster, User } from "@kubernetes/client-node";
import type { ClusterConfig, TlsMaterial } from "./cluster-config.ts";
import { followCertificates, followKey } from "./followed-file.ts";
import type { FollowedFile } from "./followed-file.ts";
import { followTls } from "./followed-tls.ts";
import type { TlsFiles } from "./followed-tls.ts";
import { asUser, type Impersonation } from "./impersonation.ts";
import type { KubeConfigContent, KubeConfigFiles, UserDetails } from "./kube-config-files.ts";
import { findForbidden, type KubeConfigLimits } from "./untrusted-kube-config.ts";
import { credentialsOf } from "./user-credentials.ts";

/** What of a kubeconfig is used. */
export interface ClusterSelection {
  /** Default: the current context of the file. */
  readonly context?: string | undefined;
  /** Name of a cluster of the file. Default: that of the context. */
  readonly cluster?: string | undefined;
  /** Name of a user of the file. Default: that of the context. */
  readonly user?: string | undefined;
  /** A user to act as. Default: that of the kubeconfig, if it has one. */
  readonly impersonate?: Impersonation | undefined;
}

/** What {@link readCluster} needs. */
export interface ReadClusterOptions extends KubeConfigFiles {
  /** Start of each message. */
  readonly where: string;
  readonly selection: ClusterSelection;
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
  const { kubeConfig, execConfigs, where, env } = options;
  const fail: Fail = (text) => {
    throw new ConfigError(`${where}: ${text}`);
  };
  const { namespace, cluster, user } = select(kubeConfig, options.selection, fail);
  const { server } = cluster;
  if (!isHttpUrl(server)) {
    return fail(`cluster "${cluster.name}": server ${JSON.stringify(server)} is not a URL; expected https://host:port`);
  }
  const { limits, folder } = options;
  const details = detailsOf(options, user);
  const forbidden = limits && findForbidden({ cluster, user, tokenFile: details?.tokenFile, folder }, limits);
  if (forbidden !== undefined) return fail(forbidden);
  const proxyUrl = proxyOf(cluster, where, env);
  const { tls, files } = readTls(cluster, user, where, fail);
  const execConfig = execConfigs.get(cluster.name);
  const credentials = user && credentialsOf({ user, cluster, execConfig, details, where, tls, env });
  const config: ClusterConfig = {
    server,
    ...(namespace ? { namespace } : {}),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(limits === undefined || limits.allowed.includes("link-local") ? {} : { rejectsLinkLocal: true }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(credentials === undefined ? {} : { credentials }),
  };
  if (Object.keys(files).length === 0) return config;
  const currentTls = followTls(tls, files);
  return { ...config, current: async () => ({ ...config, tls: currentTls() }) };
}

/** As in kubectl, NO_PROXY applies only to the proxy of the environment. */
function proxyOf({ name, server, proxyUrl }: Cluster, where: string, env: ReadClusterOptions["env"]) {
  return proxyUrl
    ? readProxyUrl(proxyUrl, `${where}: cluster "${name}": proxy-url`).href
    : proxyFor(new URL(server), env)?.href;
}

/** The entry that a flag names, else the one that the context does. */
function entryOf<T extends { readonly name: string }>(
  entries: readonly T[],
  kind: "cluster" | "user",
  { flag, context }: { readonly flag: string | undefined; readonly context: { name: string; entry: string } },
  fail: Fail,
): T {
  const found = entries.find((each) => each.name === (flag ?? context.entry));
  if (found !== undefined) return found;
  if (flag === undefined)
    return fail(
      `context "${context.name}" names the ${kind} "${context.entry}", which is not under ${kind}s${kind === "cluster" ? ", or has no server" : ""}`,
    );
  return fail(`${kind} "${flag}" does not exist; expected one of ${quoted(entries.map((each) => each.name))}`);
}

/** The context that is selected; a cluster that is named by itself needs none. */
function contextOf({ contexts, currentContext }: KubeConfigContent, selection: ClusterSelection, fail: Fail) {
  const names = contexts.map((context) => context.name);
  const name = selection.context ?? currentContext ?? "";
  const context = contexts.find((each) => each.name === name);
  if (context !== undefined) return context;
  if (name !== "") return fail(`context "${name}" does not exist; expected one of ${quoted(names)}`);
  if (selection.cluster !== undefined) return { name, cluster: "", user: "" };
  return fail(`current-context is not set; expected one of ${quoted(names)}`);
}

/** The cluster, user and namespace of a context, or what is selected instead. */
function select(
  content: KubeConfigContent,
  selection: ClusterSelection,
  fail: Fail,
): { readonly namespace: string | undefined; readonly cluster: Cluster; readonly user: User | undefined } {
  const context: { name: string; cluster: string; user: string; namespace?: string } = contextOf(
    content,
    selection,
    fail,
  );
  const of = (flag: string | undefined, entry: string) => ({ flag, context: { name: context.name, entry } });
  const cluster = entryOf(content.clusters, "cluster", of(selection.cluster, context.cluster), fail);
  const hasUser = Boolean(selection.user ?? context.user);
  const user = hasUser ? entryOf(content.users, "user", of(selection.user, context.user), fail) : undefined;
  // A cluster that asks for no credentials may still know users to act as.
  return { namespace: context.namespace, cluster, user: user ?? (selection.impersonate && { name: "" }) };
}

/** What is known of a user, with another one to act as. */
function detailsOf({ users, folder, selection }: ReadClusterOptions, user: User | undefined): UserDetails | undefined {
  const stored = user && users.get(user.name);
  const { impersonate } = selection;
  if (impersonate === undefined) return stored;
  return { folder, tokenFile: undefined, ...stored, entry: asUser(stored?.entry ?? {}, impersonate) };
}

/** An authority that is not used would look like a protection. */
function rejectIgnoredAuthority({ name, skipTLSVerify, caData, caFile }: Cluster, fail: Fail): void {
  if (!skipTLSVerify || !(caData || caFile)) return;
  const what = `cluster "${name}": certificate-authority and insecure-skip-tls-verify`;
  fail(`${what} are both set; remove insecure-skip-tls-verify`);
}

/** The TLS material as it is now, and the files that it came from. */
function readTls(
  cluster: Cluster,
  user: User | undefined,
  where: string,
  fail: Fail,
): { readonly tls: TlsMaterial; readonly files: TlsFiles } {
  const files: { -readonly [Part in keyof TlsFiles]: FollowedFile } = {};
  const material = (part: keyof TlsFiles, field: string, file: string | undefined, data: string | undefined) => {
    // For client-go, an empty field is not set.
    if (data && file) return fail(`${field} and ${field.split(": ")[1] ?? ""}-data are both set; remove one`);
    if (data) return decodePem(data, field, fail);
    if (!file) return undefined;
    const follow = (part === "key" ? followKey : followCertificates)(file, `${where}: ${field}`);
    files[part] = follow;
    return follow();
  };
  rejectIgnoredAuthority(cluster, fail);
  const ca = material("ca", `cluster "${cluster.name}": certificate-authority`, cluster.caFile, cluster.caData);
  const cert = material("cert", `user "${user?.name}": client-certificate`, user?.certFile, user?.certData);
  const key = material("key", `user "${user?.name}": client-key`, user?.keyFile, user?.keyData);
  if ((cert === undefined) !== (key === undefined)) {
    return fail(`user "${user?.name}": client-certificate and client-key must be set together`);
  }
  const caSource = `certificate-authority of cluster "${cluster.name}" in ${where}`;
  const tls = {
    ...(ca === undefined ? {} : { ca, caSource }),
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
  return names.length === 0 ? "none (the file has none)" : names.map((name) => `"${name}"`).join(", ");
}
