import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { ConfigError, isRecord } from "@millwright/base";
import type { KubeConfig } from "@kubernetes/client-node";
import { firstLine, messageOf } from "../log.ts";
import { fileExists } from "./file-exists.ts";

/** What client-node does not read of a user. */
export interface UserDetails {
  /** Where the file is that has the user: its relative paths begin there. */
  readonly folder: string;
  readonly tokenFile: string | undefined;
  /** The user as the file has it. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** Several kubeconfigs as one. */
export interface KubeConfigFiles {
  readonly kubeConfig: KubeConfig;
  /** By the name of the user. */
  readonly users: ReadonlyMap<string, UserDetails>;
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

/**
 * Reads kubeconfigs and merges them, the first one first. Loads client-node.
 *
 * @throws ConfigError in one line that names the file
 */
export async function readKubeConfigFiles(files: readonly string[]): Promise<KubeConfigFiles> {
  const texts = await Promise.all(files.map(readConfigFile));
  const { KubeConfig, loadYaml } = await import("@kubernetes/client-node");
  const kubeConfig = new KubeConfig();
  const users = new Map<string, UserDetails>();
  for (const [index, { file, text }] of texts.entries()) {
    try {
      const raw = text.trim() === "" ? undefined : loadYaml<unknown>(text);
      if (!isRecord(raw)) throw new Error("expected a YAML mapping with clusters, users and contexts");
      // The first file that has a user is the one that counts.
      for (const [user, found] of userDetailsOf(raw, dirname(resolve(file))))
        if (!users.has(user)) users.set(user, found);
      const part = index === 0 ? kubeConfig : new KubeConfig();
      part.loadFromString(text);
      part.makePathsAbsolute(dirname(resolve(file)));
      if (index > 0) mergeMissing(kubeConfig, part);
    } catch (cause) {
      throw new ConfigError(`kubeconfig ${file}: ${firstLine(messageOf(cause))}`, { cause });
    }
  }
  return { kubeConfig, users };
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

function userDetailsOf(
  raw: Readonly<Record<string, unknown>>,
  folder: string,
): readonly (readonly [string, UserDetails])[] {
  const users = Array.isArray(raw["users"]) ? raw["users"].filter(isRecord) : [];
  return users.flatMap(({ name, user }) => {
    if (typeof name !== "string") return [];
    const entry = isRecord(user) ? user : {};
    const tokenFile = typeof entry["tokenFile"] === "string" ? resolve(folder, entry["tokenFile"]) : undefined;
    return [[name, { folder, tokenFile, entry }] as const];
  });
}

/** As kubectl merges files: the first one that has a name wins. client-node rejects duplicates. */
function mergeMissing(into: KubeConfig, from: KubeConfig): void {
  for (const cluster of from.getClusters()) if (into.getCluster(cluster.name) === null) into.addCluster(cluster);
  for (const user of from.getUsers()) if (into.getUser(user.name) === null) into.addUser(user);
  for (const context of from.getContexts()) {
    if (into.getContextObject(context.name) === null) into.addContext(context);
  }
  if (!into.getCurrentContext() && from.getCurrentContext()) into.setCurrentContext(from.getCurrentContext());
}
