import type { LoadKubeConfigOptions } from "@millwright/kube";
import { type Command, Option } from "commander";
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

/** Gives a command {@link ControlFlags}. */
export const addControlCluster = (command: Command, whenAbsent = "as kubectl, else the service account"): Command =>
  command
    .option(
      "--control-kubeconfig <file>",
      `cluster in which machines are declared; "inClusterConfig" for the service account (default: ${whenAbsent})`,
    )
    .addOption(new Option("--kubeconfig <file>", "the same as --control-kubeconfig").conflicts("controlKubeconfig"))
    .option("--context <name>", "context of that kubeconfig (default: its current context)");

/** The cluster of {@link ControlFlags}. Its file is the user's own, as for kubectl. */
export function controlKubeConfig({ controlKubeconfig, kubeconfig, context }: ControlFlags): LoadKubeConfigOptions {
  const file = controlKubeconfig ?? kubeconfig;
  return file === "inClusterConfig" ? { inCluster: true } : { file, context };
}

/** Gives a command the flags that select the cluster that machines join. */
export const addTargetCluster = (command: Command, whenAbsent?: string): Command =>
  command.addOption(targetKubeconfigOption(whenAbsent)).addOption(targetKubeconfigAllowOption());

/** Gives a command `-n`. `of` is what the namespace has. */
export const addNamespace = (command: Command, of = "the machines"): Command =>
  command.option("-n, --namespace <name>", `namespace of ${of} (default: that of the kubeconfig, else default)`);

/** Gives a command `-A`. */
export const addAllNamespaces = (command: Command): Command =>
  command.addOption(new Option("-A, --all-namespaces", "all namespaces instead of one").conflicts("namespace"));

/** Gives a command `-o`; the first format is the default. */
export const addOutput = (command: Command, formats: readonly string[] = ["text", "json"]): Command =>
  command.addOption(new Option("-o, --output <format>", "format of the output").choices(formats).default(formats[0]));
