import { delimiter, dirname, resolve } from "node:path";
import { ConfigError } from "@millwright/base";
import type { ClusterConfig } from "./cluster-config.ts";
import { hasServiceAccount, loadInCluster } from "./in-cluster.ts";
import { followKubeConfig, type FollowerOptions } from "./follow-kube-config.ts";
import {
  findKubeConfigFiles,
  type KubeConfigFiles,
  type KubeConfigText,
  parseKubeConfigs,
} from "./kube-config-files.ts";
import { type ClusterSelection, readCluster } from "./read-cluster.ts";
import type { KubeConfigLimits } from "./untrusted-kube-config.ts";

/** Options of {@link loadKubeConfig}. */
export interface LoadKubeConfigOptions extends ClusterSelection {
  /** Path of a kubeconfig. Default: `$KUBECONFIG` (several files are merged), then `~/.kube/config`, then the service account. */
  readonly file?: string | undefined;
  /** A kubeconfig itself instead of a file, such as that of `KubeConfig.exportConfig()` of client-node. Relative paths in it begin in the working directory. */
  readonly content?: string | undefined;
  /** Deadline of a call, milliseconds. Default: that of the client. */
  readonly requestTimeoutMs?: number | undefined;
  /** The service account of the pod, whatever files there are. Default false. */
  readonly inCluster?: boolean | undefined;
  /** What the kubeconfig may have although it is from outside. Default: it is the user's own, and may have everything, as for kubectl. */
  readonly fromOutside?: KubeConfigLimits | undefined;
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Finds out how to reach a cluster, by the rules of kubectl. Entries are read by client-node. A client follows the files: see {@link followKubeConfig}.
 *
 * @throws ConfigError in one line that names the file, the field and what is expected
 */
export async function loadKubeConfig(
  options: LoadKubeConfigOptions = {},
  follower: FollowerOptions = {},
): Promise<ClusterConfig> {
  const { requestTimeoutMs } = options;
  const config = await loadConfig(options, follower);
  return requestTimeoutMs === undefined ? config : { ...config, requestTimeoutMs };
}

async function loadConfig(options: LoadKubeConfigOptions, follower: FollowerOptions): Promise<ClusterConfig> {
  const { env = process.env, impersonate } = options;
  if (options.inCluster === true) return loadInCluster(env, { impersonate });
  const { content: given } = options;
  const files = given === undefined ? await findKubeConfigFiles(options.file, env) : ["content"];
  if (files.length === 0) {
    if (await hasServiceAccount()) return loadInCluster(env, { impersonate });
    throw new ConfigError(
      "no kubeconfig: expected a file in --kubeconfig, in $KUBECONFIG or at ~/.kube/config, or a service account",
    );
  }
  const readAs = (content: KubeConfigFiles, selection: ClusterSelection): Promise<ClusterConfig> =>
    readCluster({
      ...content,
      where: `kubeconfig ${files.join(delimiter)}`,
      selection,
      limits: options.fromOutside,
      folder: dirname(resolve(files[0] ?? "")),
      env,
    });
  if (given !== undefined) return readAs(await parseKubeConfigs([{ file: "content", text: given }]), options);
  let { context } = options;
  const read = async (texts: readonly KubeConfigText[]): Promise<ClusterConfig> => {
    const content = await parseKubeConfigs(texts);
    const config = await readAs(content, { ...options, context });
    // Someone who chooses another context for kubectl does not move a process that runs.
    context ??= content.kubeConfig.currentContext;
    return config;
  };
  return followKubeConfig({ files, read }, follower);
}
