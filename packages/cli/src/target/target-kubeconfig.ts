import {
  type ClusterConfig,
  type FollowerOptions,
  type KubeConfigPermission,
  loadKubeConfig,
  type LoadKubeConfigOptions,
} from "@millwright/kube";
import { targetKubeconfigAllow as allowFlag } from "./target-flags.ts";

/** The flags of a command that uses the cluster that machines join. */
export interface TargetFlags {
  readonly targetKubeconfig?: string;
  readonly targetKubeconfigAllow?: readonly KubeConfigPermission[];
  /** Milliseconds; 0: the default. */
  readonly requestTimeout?: number;
}

/** The file of `--target-kubeconfig`. In contrast to that of `--control-kubeconfig`, it may come from others. */
export const targetKubeConfig = ({
  targetKubeconfig,
  targetKubeconfigAllow = [],
  requestTimeout = 0,
}: TargetFlags): LoadKubeConfigOptions => ({
  file: targetKubeconfig,
  ...(requestTimeout === 0 ? {} : { requestTimeoutMs: requestTimeout }),
  fromOutside: { allowed: targetKubeconfigAllow, flag: allowFlag },
});

/** The cluster of `--target-kubeconfig`. */
export const loadTargetConfig = (flags: TargetFlags, follower?: FollowerOptions): Promise<ClusterConfig> =>
  loadKubeConfig(targetKubeConfig(flags), follower);
