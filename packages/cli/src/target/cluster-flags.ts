import type { LoadKubeConfigOptions } from "@millwright/kube";
import { type Command, Option } from "commander";
import { UsageError } from "../terminal/usage-error.ts";
import { targetKubeconfigAllowOption, targetKubeconfigOption } from "./target-flags.ts";

/** The flags that select the cluster in which machines are declared. */
export interface ControlFlags {
  readonly controlKubeconfig?: string;
  /** The same. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The flags of a command about the machines of a namespace. */
export interface NamespaceFlags extends ControlFlags {
  readonly namespace?: string;
}

/** The flags of a command about the machines of one namespace or all. */
export interface AllNamespacesFlags extends NamespaceFlags {
  readonly allNamespaces?: true;
}

/** Gives a command {@link ControlFlags}. */
export const addControlCluster = (command: Command, whenAbsent = "as kubectl, else the service account"): Command =>
  command
    .option(
      "--control-kubeconfig <file>",
      `cluster in which machines are declared; "inClusterConfig" for the service account (default: ${whenAbsent})`,
    )
    .addOption(new Option("--kubeconfig <file>", "the same as --control-kubeconfig").conflicts("controlKubeconfig"))
    .option("--context <name>", "context of that kubeconfig (default: its current context)");

/**
 * The cluster of {@link ControlFlags}. Its file is the user's own, as for kubectl.
 *
 * @throws UsageError for a context of a service account, which has none
 */
export function controlKubeConfig({ controlKubeconfig, kubeconfig, context }: ControlFlags): LoadKubeConfigOptions {
  const file = controlKubeconfig ?? kubeconfig;
  if (file !== "inClusterConfig") return { file, context };
  if (context !== undefined) throw new UsageError(`--context ${context}: "inClusterConfig" has no contexts`);
  return { inCluster: true };
}

/** Gives a command the flags that select the cluster that machines join. */
export const addTargetCluster = (command: Command, whenAbsent?: string): Command =>
  command.addOption(targetKubeconfigOption(whenAbsent)).addOption(targetKubeconfigAllowOption());

/** Gives a command `-n`. `of` is what the namespace has. */
export const addNamespace = (command: Command, of = "the machines"): Command =>
  command.option("-n, --namespace <name>", `namespace of ${of} (default: that of the kubeconfig, else default)`);

/** Rejects `-A` where all namespaces make no sense, so that the reason is printed instead of an unknown option. */
export const rejectAllNamespaces = (command: Command, because: string): Command =>
  command
    .addOption(new Option("-A, --all-namespaces").hideHelp())
    .on("option:all-namespaces", () => command.error(`error: --all-namespaces: ${because}`));

/** Gives a command `-A`. */
export const addAllNamespaces = (command: Command): Command =>
  command.addOption(new Option("-A, --all-namespaces", "all namespaces instead of one").conflicts("namespace"));

/** Gives a command `-o`; the first format is the default. */
export const addOutput = (command: Command, formats: readonly string[] = ["text", "json"]): Command =>
  command.addOption(new Option("-o, --output <format>", "format of the output").choices(formats).default(formats[0]));
