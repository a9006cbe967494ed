import { isAbsolute, join } from "node:path";
import { ConfigError, isRecord } from "@millwright/base";
import type { ExecPlugin } from "./exec-credentials.ts";

/** The default of kubectl for an entry without a version. */
const defaultApiVersion = "client.authentication.k8s.io/v1";

/** The context of the `exec` entry of a user. */
export interface ExecPluginPlace {
  /** The cluster information for the program, with `provideClusterInfo`. */
  readonly cluster: Readonly<Record<string, unknown>>;
  /** Where the kubeconfig is, if it is a file. */
  readonly folder: string | undefined;
}

/**
 * Reads the `exec` entry of a user of a kubeconfig. A command with a slash in it is a path, relative to the kubeconfig; without one it is looked up
 * in `PATH`. Source: client-go, clientcmd, `GetAuthInfoFileReferences`.
 *
 * @throws ConfigError that names the field
 */
export function readExecPlugin(
  exec: Readonly<Record<string, unknown>>,
  where: string,
  { cluster, folder }: ExecPluginPlace,
): ExecPlugin {
  const text = (field: string): string | undefined => {
    const value = exec[field];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw new ConfigError(`${where}: exec.${field}: expected text`);
    return value;
  };
  const command = text("command");
  if (command === undefined) throw new ConfigError(`${where}: exec.command is missing; expected the name of a program`);
  const { args = null, env = null } = exec;
  if (args !== null && !(Array.isArray(args) && args.every((arg) => typeof arg === "string"))) {
    throw new ConfigError(`${where}: exec.args: expected a list of texts`);
  }
  const variables = Array.isArray(env) ? env.filter(isVariable) : [];
  if (env !== null && !(Array.isArray(env) && variables.length === env.length)) {
    throw new ConfigError(`${where}: exec.env: expected a list of entries with name and value`);
  }
  return {
    apiVersion: text("apiVersion") ?? defaultApiVersion,
    command: folder !== undefined && command.includes("/") && !isAbsolute(command) ? join(folder, command) : command,
    args: args ?? [],
    env: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    installHint: text("installHint"),
    ...(exec["provideClusterInfo"] === true ? { cluster } : {}),
  };
}

function isVariable(entry: unknown): entry is { readonly name: string; readonly value: string } {
  return isRecord(entry) && typeof entry["name"] === "string" && typeof entry["value"] === "string";
}
