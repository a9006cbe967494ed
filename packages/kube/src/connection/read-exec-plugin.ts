import { isAbsolute, join } from "node:path";
import { ConfigError, isRecord } from "@millwright/base";
import type { ExecPlugin } from "./exec-credentials.ts";

const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";

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
 * @param exec as `readKubeConfigShape` returns it
 * @throws ConfigError that names the field
 */
export function readExecPlugin(
  exec: Readonly<Record<string, unknown>>,
  where: string,
  { cluster, folder }: ExecPluginPlace,
): ExecPlugin {
  const text = (field: string): string | undefined => {
    const value = exec[field];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const command = text("command");
  if (command === undefined) throw new ConfigError(`${where}: exec.command is missing; expected the name of a program`);
  const apiVersion = text("apiVersion");
  if (apiVersion !== v1 && apiVersion !== v1beta1) {
    const found = apiVersion === undefined ? "is missing" : `${JSON.stringify(apiVersion)} is not supported`;
    throw new ConfigError(`${where}: exec.apiVersion ${found}; expected ${v1} or ${v1beta1}`);
  }
  // Source: client-go, clientcmd, `validateAuthInfo`: v1beta1 has a default.
  const mode = text("interactiveMode") ?? (apiVersion === v1beta1 ? "IfAvailable" : undefined);
  if (mode !== "Never" && mode !== "IfAvailable") {
    const found = mode === undefined ? "is missing" : `${JSON.stringify(mode)} needs a terminal`;
    throw new ConfigError(`${where}: exec.interactiveMode ${found}; expected Never or IfAvailable`);
  }
  const { args, env } = exec;
  const variables = Array.isArray(env) ? env.filter(isVariable) : [];
  return {
    apiVersion,
    command: folder !== undefined && command.includes("/") && !isAbsolute(command) ? join(folder, command) : command,
    args: Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [],
    env: Object.fromEntries(variables.map(({ name, value = "" }) => [name, value])),
    installHint: text("installHint"),
    ...(exec["provideClusterInfo"] === true ? { cluster } : {}),
  };
}

function isVariable(entry: unknown): entry is { readonly name: string; readonly value?: string } {
  return isRecord(entry) && typeof entry["name"] === "string";
}
