import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { ConfigError, isRecord } from "@millwright/base";
import { followFiles } from "@millwright/base/files";
import type { Cluster, Context, User } from "@kubernetes/client-node";
import { firstLine, messageOf } from "../log.ts";
import { fileExists } from "./file-exists.ts";
import { readKubeConfigShape } from "./kube-config-shape.ts";

/** What client-node does not read of a user. */
export interface UserDetails {
  /** Where the file is that has the user: its relative paths begin there. */
  readonly folder: string;
  readonly tokenFile: string | undefined;
  /** The user as the file has it. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** The content of a kubeconfig, with absolute paths. */
export interface KubeConfigContent {
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
  readonly contexts: readonly Context[];
  readonly currentContext: string | undefined;
}

/** Several kubeconfigs as one. */
export interface KubeConfigFiles {
  readonly kubeConfig: KubeConfigContent;
  /** By the name of the user. */
  readonly users: ReadonlyMap<string, UserDetails>;
  /** What `exec` programs get of a cluster beside its fields, by the name of the cluster; undefined for nothing. */
  readonly execConfigs: ReadonlyMap<string, unknown>;
}

/** The files that count, by the rules of kubectl: the one that was asked for, else those of `$KUBECONFIG`, else `~/.kube/config`; none if that is not there. */
export async function findKubeConfigFiles(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  if (file !== undefined) return [file];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((name) => name !== "");
  if (listed.length > 0) {
    // kubectl skips the missing ones among several.
    const there = await Promise.all(listed.map(fileExists));
    const found = listed.filter((_, index) => there[index]);
    return found.length > 0 ? found : listed.slice(0, 1);
  }
  const usual = join(env["HOME"] ?? homedir(), ".kube", "config");
  return (await fileExists(usual)) ? [usual] : [];
}

/** A kubeconfig before it is parsed. */
export interface KubeConfigText {
  readonly file: string;
  readonly text: string;
}

/**
 * Parses kubeconfigs and merges them, the first one first. Loads only that module of client-node that reads their entries: the whole takes 80 MiB and 350 ms.
 *
 * @throws ConfigError in one line that names the file
 */
export async function parseKubeConfigs(texts: readonly KubeConfigText[]): Promise<KubeConfigFiles> {
  const [{ parseYaml }, entries] = await Promise.all([
    import("../yaml/yaml.ts"),
    import("@kubernetes/client-node/dist/config_types.js"),
  ]);
  // An entry that lacks something may be one that is not used.
  const invalid = { onInvalidEntry: entries.ActionOnInvalid.FILTER };
  const parts: KubeConfigContent[] = [];
  const users = new Map<string, UserDetails>();
  const execConfigs = new Map<string, unknown>();
  for (const { file, text } of texts) {
    try {
      // As for kubectl, the first document counts, and the last one of keys that occur twice.
      const raw = readKubeConfigShape(parseYaml(text, { lastKeyCounts: true })[0]);
      const folder = dirname(resolve(file));
      // The first file that has a user, or a cluster, is the one that counts.
      for (const [user, found] of userDetailsOf(raw, folder)) if (!users.has(user)) users.set(user, found);
      for (const [cluster, found] of execConfigsOf(raw)) if (!execConfigs.has(cluster)) execConfigs.set(cluster, found);
      const current = raw["current-context"];
      parts.push({
        clusters: entries.newClusters(raw["clusters"], invalid).map((cluster) => inFolder(cluster, ["caFile"], folder)),
        users: entries.newUsers(raw["users"], invalid).map((user) => inFolder(user, ["certFile", "keyFile"], folder)),
        contexts: entries.newContexts(raw["contexts"], invalid),
        currentContext: typeof current === "string" && current !== "" ? current : undefined,
      });
    } catch (cause) {
      throw new ConfigError(`kubeconfig ${file}: ${firstLine(messageOf(cause))}`, { cause });
    }
  }
  return { kubeConfig: mergeContents(parts), users, execConfigs };
}

/** The entry with absolute paths of files. An empty path is none. */
function inFolder<Entry extends object>(entry: Entry, fields: readonly (keyof Entry)[], folder: string): Entry {
  const paths = fields.flatMap((field) => {
    const path: unknown = entry[field];
    return typeof path === "string" ? [[field, path === "" ? undefined : resolve(folder, path)] as const] : [];
  });
  return paths.length === 0 ? entry : { ...entry, ...Object.fromEntries(paths) };
}

/** Windows PowerShell writes UTF-16. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Follows kubeconfigs: the same texts as long as none has changed.
 *
 * @throws ConfigError in one line that names a file which cannot be read, before there were any texts
 */
export function followKubeConfigFiles(
  files: readonly string[],
  onProblem: (error: Error) => void,
): () => readonly KubeConfigText[] {
  const explain = (cause: unknown, file: string): Error => {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    return new ConfigError(`kubeconfig ${file}: ${isMissing ? "the file does not exist" : messageOf(cause)}`, {
      cause,
    });
  };
  const make = (contents: readonly Buffer[]): readonly KubeConfigText[] =>
    contents.map((content, index) => ({ file: files[index] ?? "", text: decode(content) }));
  return followFiles(files, make, { explain, onProblem });
}

function userDetailsOf(
  raw: Readonly<Record<string, unknown>>,
  folder: string,
): readonly (readonly [string, UserDetails])[] {
  const users = Array.isArray(raw["users"]) ? raw["users"].filter(isRecord) : [];
  return users.flatMap(({ name, user }) => {
    if (typeof name !== "string") return [];
    const entry = isRecord(user) ? user : {};
    const file = entry["tokenFile"];
    const tokenFile = typeof file === "string" && file !== "" ? resolve(folder, file) : undefined;
    return [[name, { folder, tokenFile, entry }] as const];
  });
}

/** Source: client-go, clientcmd, `clusterExtensionKey`. */
const execExtension = "client.authentication.k8s.io/exec";

function execConfigsOf(raw: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  const clusters = Array.isArray(raw["clusters"]) ? raw["clusters"].filter(isRecord) : [];
  return clusters.flatMap(({ name, cluster }) => {
    if (typeof name !== "string") return [];
    const extensions = isRecord(cluster) && Array.isArray(cluster["extensions"]) ? cluster["extensions"] : [];
    const found = extensions.filter(isRecord).find((extension) => extension["name"] === execExtension);
    return [[name, found?.["extension"]] as const];
  });
}

/** As kubectl merges files: the first one that has a name wins. */
function mergeContents(parts: readonly KubeConfigContent[]): KubeConfigContent {
  return {
    clusters: firstOfName(parts.flatMap(({ clusters }) => clusters)),
    users: firstOfName(parts.flatMap(({ users }) => users)),
    contexts: firstOfName(parts.flatMap(({ contexts }) => contexts)),
    currentContext: parts.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  };
}

const firstOfName = <Entry extends { readonly name: string }>(entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ name }, index) => entries.findIndex((other) => other.name === name) === index);
