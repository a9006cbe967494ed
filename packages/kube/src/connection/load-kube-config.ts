import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { ConfigError } from "@millwright/core/foundation";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import type { ClusterConfig, Credentials, TlsMaterial } from "./cluster-config.ts";
import { createExecCredentials } from "./exec-credentials.ts";
import { followPemFile, followTokenFile } from "./followed-file.ts";
import type { FollowedFile } from "./followed-file.ts";
import { followTls } from "./followed-tls.ts";
import type { TlsFiles } from "./followed-tls.ts";
import { isRecord } from "../objects/kube-object.ts";
import { readExecPlugin } from "./read-exec-plugin.ts";
import { messageOf } from "../log.ts";

/** Options of {@link loadKubeConfig}. */
export interface LoadKubeConfigOptions {
  /** Path of a kubeconfig. Default: `$KUBECONFIG` (several files are merged), then `~/.kube/config`, then the service account. */
  readonly file?: string | undefined;
  /** Default: the current context of the file. */
  readonly context?: string | undefined;
  /** The service account of the pod, whatever files there are. Default false. */
  readonly inCluster?: boolean | undefined;
  /**
   * Whether the kubeconfig may name programs to run (`exec`, `auth-provider`). A file from outside must not. Default true, as
   * for kubectl.
   */
  readonly allowPlugins?: boolean | undefined;
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Finds out how to reach a cluster, by the rules of kubectl. Reading, merging and credential plug-ins are client-node's,
 * which is loaded here and nowhere else, because that takes 600 ms; use `{ server: "http://…" }` directly where
 * there is nothing to load.
 *
 * @throws ConfigError in one line that names the file, the field and what is expected
 */
export async function loadKubeConfig(options: LoadKubeConfigOptions = {}): Promise<ClusterConfig> {
  const env = options.env ?? process.env;
  if (options.inCluster === true) return loadInCluster(env);
  const files = await findFiles(options.file, env);
  if (files.length === 0) {
    if (await exists(join(serviceAccountFolder, "token"))) return loadInCluster(env);
    throw new ConfigError(
      "no kubeconfig: expected a file in --kubeconfig, in $KUBECONFIG or at ~/.kube/config, or a service account",
    );
  }
  const where = `kubeconfig ${files.join(delimiter)}`;
  const texts = await Promise.all(files.map(readConfigFile));
  const { KubeConfig, loadYaml } = await import("@kubernetes/client-node");
  const kubeConfig = new KubeConfig();
  const users = new Map<string, UserFiles>();
  for (const [index, { file, text }] of texts.entries()) {
    try {
      const raw = text.trim() === "" ? undefined : loadYaml<unknown>(text);
      if (!isRecord(raw)) throw new Error("expected a YAML mapping with clusters, users and contexts");
      // The first file that has a user is the one that counts.
      for (const [user, found] of userFilesOf(raw, dirname(resolve(file))))
        if (!users.has(user)) users.set(user, found);
      const part = index === 0 ? kubeConfig : new KubeConfig();
      part.loadFromString(text);
      part.makePathsAbsolute(dirname(resolve(file)));
      if (index > 0) mergeMissing(kubeConfig, part);
    } catch (cause) {
      throw new ConfigError(`kubeconfig ${file}: ${firstLine(messageOf(cause))}`, { cause });
    }
  }
  return readCluster(kubeConfig, where, users, options);
}

async function readCluster(
  kubeConfig: KubeConfig,
  where: string,
  users: ReadonlyMap<string, UserFiles>,
  options: LoadKubeConfigOptions,
): Promise<ClusterConfig> {
  const env = options.env ?? process.env;
  const fail = (text: string, cause?: unknown): never => {
    throw new ConfigError(`${where}: ${text}`, cause === undefined ? undefined : { cause });
  };
  const contextNames = kubeConfig.getContexts().map((context) => context.name);
  const contextName = options.context ?? kubeConfig.getCurrentContext();
  if (contextName === undefined || contextName === "") {
    return fail(`current-context is not set; expected one of ${quoted(contextNames)}`);
  }
  const context = kubeConfig.getContextObject(contextName);
  if (context === null) return fail(`context "${contextName}" does not exist; expected one of ${quoted(contextNames)}`);
  kubeConfig.setCurrentContext(contextName);

  const cluster = kubeConfig.getCluster(context.cluster);
  if (cluster === null) {
    return fail(`context "${contextName}" names the cluster "${context.cluster}", which is not under clusters`);
  }
  const server = readServer(cluster.server);
  if (server === undefined) {
    return fail(
      `cluster "${cluster.name}": server ${JSON.stringify(cluster.server)} is not a URL; expected https://host:port`,
    );
  }
  const { proxyUrl } = cluster;
  if (proxyUrl !== undefined && !isHttpUrl(proxyUrl)) {
    return fail(
      `cluster "${cluster.name}": proxy-url ${JSON.stringify(withoutPassword(proxyUrl))} cannot be used; expected http://host:port or https://host:port`,
    );
  }
  const userName = context.user || undefined;
  const user = userName === undefined ? null : kubeConfig.getUser(userName);
  if (userName !== undefined && user === null) {
    return fail(`context "${contextName}" names the user "${userName}", which is not under users`);
  }
  if (options.allowPlugins === false && user !== null && (isRecord(user.exec) || isRecord(user.authProvider))) {
    return fail(
      `user "${user.name}" has an exec or auth-provider entry, which is not allowed here; expected a token or a client certificate`,
    );
  }

  const files: { -readonly [Part in keyof TlsFiles]: FollowedFile } = {};
  const material = async (part: keyof TlsFiles, field: string, file: string | undefined, data: string | undefined) => {
    if (file === undefined || file === null) return decodePem(data, field, fail);
    const follow = followPemFile(file, `${where}: ${field}`);
    files[part] = follow;
    return follow();
  };
  const ca = await material("ca", `cluster "${cluster.name}": certificate-authority`, cluster.caFile, cluster.caData);
  const cert = await material("cert", `user "${userName}": client-certificate`, user?.certFile, user?.certData);
  const key = await material("key", `user "${userName}": client-key`, user?.keyFile, user?.keyData);
  if ((cert === undefined) !== (key === undefined)) {
    return fail(`user "${userName}": client-certificate and client-key belong together, but only one of them is there`);
  }
  const tls: TlsMaterial = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(cluster.tlsServerName === undefined ? {} : { serverName: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify ? { insecureSkipVerify: true } : {}),
  };
  const credentials =
    user === null
      ? undefined
      : credentialsOf({ kubeConfig, user, cluster, files: users.get(user.name), where, tls, env });
  return {
    server,
    ...(context.namespace === undefined ? {} : { namespace: context.namespace }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(Object.keys(files).length === 0 ? {} : { currentTls: followTls(tls, files) }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

interface UserEntry {
  readonly kubeConfig: KubeConfig;
  readonly user: User;
  readonly cluster: Cluster;
  readonly tls: TlsMaterial;
  readonly files: UserFiles | undefined;
  readonly where: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

function credentialsOf(entry: UserEntry): ClusterConfig["credentials"] {
  const { kubeConfig, user, where } = entry;
  const tokenFile = entry.files?.tokenFile;
  const impersonate: Readonly<Record<string, string>> =
    typeof user.impersonateUser === "string" ? { "impersonate-user": user.impersonateUser } : {};
  if (tokenFile !== undefined) {
    const token = followTokenFile(tokenFile, `${where}: user "${user.name}": tokenFile`);
    return async () => ({ headers: { ...impersonate, authorization: `Bearer ${await token()}` } });
  }
  if (isRecord(user.exec)) return execCredentials(entry, user.exec, impersonate);
  if (isRecord(user.authProvider)) return pluginCredentials(kubeConfig, user, where);
  const authorization = user.token
    ? `Bearer ${user.token.trim()}`
    : user.username
      ? `Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}`
      : undefined;
  const headers = { ...impersonate, ...(authorization === undefined ? {} : { authorization }) };
  return Object.keys(headers).length === 0 ? undefined : async () => ({ headers });
}

function execCredentials(
  { user, cluster, files, tls, where, env }: UserEntry,
  exec: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
): ClusterConfig["credentials"] {
  const place = `${where}: user "${user.name}"`;
  const ca = tls.ca === undefined ? {} : { "certificate-authority-data": Buffer.from(tls.ca).toString("base64") };
  const plugin = readExecPlugin(exec, place, { cluster: { server: cluster.server, ...ca }, folder: files?.folder });
  return createExecCredentials({ plugin, where: place, env, headers });
}

/** Credentials of a cloud's tool (`auth-provider`). client-node fetches them and keeps them until they expire. */
function pluginCredentials(kubeConfig: KubeConfig, user: User, where: string): () => Promise<Credentials> {
  let underway: Promise<Credentials> | undefined;
  const ask = async (): Promise<Credentials> => {
    const answer: { headers?: Record<string, unknown>; cert?: unknown; key?: unknown } = {};
    try {
      await kubeConfig.applyToHTTPSOptions(answer);
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
      headers,
      ...(typeof answer.cert === "string" ? { cert: answer.cert } : {}),
      ...(typeof answer.key === "string" ? { key: answer.key } : {}),
    };
  };
  // Requests that come while the program runs share its answer: one browser window, not sixteen.
  return () => (underway ??= ask().finally(() => (underway = undefined)));
}

async function loadInCluster(env: Readonly<Record<string, string | undefined>>): Promise<ClusterConfig> {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) {
    throw new ConfigError(
      "in-cluster configuration: expected KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which a pod has; is this one?",
    );
  }
  const read = async (name: string) => {
    const file = join(serviceAccountFolder, name);
    try {
      return await readFile(file, "utf8");
    } catch (cause) {
      throw new ConfigError(`in-cluster configuration: cannot read ${file}: ${messageOf(cause)}`, { cause });
    }
  };
  const followCa = followPemFile(join(serviceAccountFolder, "ca.crt"), "in-cluster configuration");
  const [ca, namespace] = await Promise.all([followCa(), read("namespace").catch(() => "")]);
  const token = followTokenFile(join(serviceAccountFolder, "token"), "in-cluster configuration");
  await token();
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    ...(namespace.trim() === "" ? {} : { namespace: namespace.trim() }),
    tls: { ca },
    currentTls: followTls({ ca }, { ca: followCa }),
    credentials: async () => ({ headers: { authorization: `Bearer ${await token()}` } }),
  };
}

async function findFiles(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  if (file !== undefined) return [file];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((name) => name !== "");
  if (listed.length > 0) {
    // kubectl skips the missing ones among several.
    const there = await Promise.all(listed.map(exists));
    const found = listed.filter((_, index) => there[index]);
    return found.length > 0 ? found : listed.slice(0, 1);
  }
  const usual = join(env["HOME"] ?? homedir(), ".kube", "config");
  return (await exists(usual)) ? [usual] : [];
}

async function readConfigFile(file: string): Promise<{ readonly file: string; readonly text: string }> {
  try {
    return { file, text: await readFile(file, "utf8") };
  } catch (cause) {
    if (isRecord(cause) || cause instanceof Error) {
      const missing = "code" in cause && cause["code"] === "ENOENT";
      throw new ConfigError(`kubeconfig ${file}: ${missing ? "the file does not exist" : messageOf(cause)}`, { cause });
    }
    throw cause;
  }
}

/** What client-node does not read of a user. */
interface UserFiles {
  /** Where the file is that has the user: its relative paths begin there. */
  readonly folder: string;
  readonly tokenFile: string | undefined;
}

function userFilesOf(
  raw: Readonly<Record<string, unknown>>,
  folder: string,
): readonly (readonly [string, UserFiles])[] {
  const users = Array.isArray(raw["users"]) ? raw["users"].filter(isRecord) : [];
  return users.flatMap(({ name, user }) => {
    if (typeof name !== "string") return [];
    const tokenFile = isRecord(user) && typeof user["tokenFile"] === "string" ? user["tokenFile"] : undefined;
    return [[name, { folder, tokenFile: tokenFile === undefined ? undefined : resolve(folder, tokenFile) }] as const];
  });
}

/** As kubectl merges files: the first one that has a name wins. client-node refuses duplicates. */
function mergeMissing(into: KubeConfig, from: KubeConfig): void {
  for (const cluster of from.getClusters()) if (into.getCluster(cluster.name) === null) into.addCluster(cluster);
  for (const user of from.getUsers()) if (into.getUser(user.name) === null) into.addUser(user);
  for (const context of from.getContexts()) {
    if (into.getContextObject(context.name) === null) into.addContext(context);
  }
  if (!into.getCurrentContext() && from.getCurrentContext()) into.setCurrentContext(from.getCurrentContext());
}

function decodePem(data: string | undefined, field: string, fail: (text: string) => never): string | undefined {
  if (data === undefined || data === null) return undefined;
  const pem = Buffer.from(data, "base64").toString("utf8");
  if (!pem.includes("-----BEGIN")) return fail(`${field}-data is not a PEM block in base64`);
  return pem;
}

function readServer(server: unknown): string | undefined {
  return isHttpUrl(server) ? server : undefined;
}

function isHttpUrl(url: unknown): url is string {
  return typeof url === "string" && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

/** A URL as it may be shown. */
function withoutPassword(url: unknown): unknown {
  return typeof url === "string" ? url.replace(/\/\/[^@/]*@/, "//…@") : url;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function quoted(names: readonly string[]): string {
  return names.length === 0 ? "none (the file has no contexts)" : names.map((name) => `"${name}"`).join(", ");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
