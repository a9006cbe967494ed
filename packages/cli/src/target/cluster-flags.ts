import type { LoadKubeConfigOptions } from "@millwright/kube";
import { parseGoDuration } from "@millwright/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../terminal/usage-error.ts";
import { targetKubeconfigAllowOption, targetKubeconfigOption } from "./target-flags.ts";

/** The flags that select the cluster in which machines are declared. */
export interface ControlFlags {
  readonly controlKubeconfig?: string;
  /** The same. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  /** A user to act as. */
  readonly as?: string;
  readonly asGroup?: readonly string[];
  /** Milliseconds; 0: the default. */
  readonly requestTimeout?: number;
}

/** The flags of a command about the machines of a namespace. */
export interface NamespaceFlags extends ControlFlags {
  readonly namespace?: string;
}

/** The flags of a command about the machines of one namespace or all. */
export interface AllNamespacesFlags extends NamespaceFlags {
  readonly allNamespaces?: true;
}

/** Gives a command the flags of the kubeconfig of {@link ControlFlags}. */
export const addControlKubeconfig = (command: Command, whenAbsent = "as kubectl, else the service account"): Command =>
  command
    .option(
      "--control-kubeconfig <file>",
      `cluster in which machines are declared; "inClusterConfig" for the service account (default: ${whenAbsent})`,
    )
    .addOption(new Option("--kubeconfig <file>", "the same as --control-kubeconfig").conflicts("controlKubeconfig"))
    .option("--context <name>", "context of that kubeconfig (default: its current context)");

/** A deadline as milliseconds; a number alone is seconds, as for kubectl. */
function readRequestTimeout(text: string): number {
  const ms = parseGoDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError("expected a duration such as 10s or 1m.");
  return ms;
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Gives a command {@link ControlFlags}, as kubectl has them. */
export const addControlCluster = (command: Command): Command =>
  addControlKubeconfig(command)
    .option("--cluster <name>", "cluster of that kubeconfig (default: that of the context)")
    .option("--user <name>", "user of that kubeconfig (default: that of the context)")
    .option("--as <user>", "user to act as there, such as system:serviceaccount:NAMESPACE:NAME")
    .option("--as-group <group>", "group to act as there, with --as; can be repeated", collect)
    .option(
      "--request-timeout <duration>",
      "how long a request may take, such as 10s; 0 for the default (30s)",
      readRequestTimeout,
    );

/**
 * The cluster of {@link ControlFlags}. Its file is the user's own, as for kubectl.
 *
 * @throws UsageError for a part of the kubeconfig of a service account, which has none, and for groups without a user
 */
export function controlKubeConfig(flags: ControlFlags): LoadKubeConfigOptions {
  const { controlKubeconfig, kubeconfig, context, cluster, user, as, asGroup = [], requestTimeout = 0 } = flags;
  if (as === undefined && asGroup.length > 0) throw new UsageError("--as-group: expected --as, the user in the groups");
  const options = {
    ...(as === undefined ? {} : { impersonate: { user: as, groups: asGroup } }),
    ...(requestTimeout === 0 ? {} : { requestTimeoutMs: requestTimeout }),
  };
  const file = controlKubeconfig ?? kubeconfig;
  const selected = { context, cluster, user };
  if (file !== "inClusterConfig") return { ...options, ...selected, file };
  for (const [flag, value] of Object.entries(selected))
    if (value !== undefined) throw new UsageError(`--${flag} ${value}: "inClusterConfig" has no ${flag}s`);
  return { ...options, inCluster: true };
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
