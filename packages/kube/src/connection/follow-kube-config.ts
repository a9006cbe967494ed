import { delimiter } from "node:path";
import { type Clock, systemClock } from "@millwright/base";
import { type Log, messageOf, noLog } from "../log.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { followKubeConfigFiles, type KubeConfigText } from "./kube-config-files.ts";

/** What {@link followKubeConfig} needs. */
export interface FollowedKubeConfig {
  readonly files: readonly string[];
  /** Reads the configuration. Rejects with a ConfigError when the files are half written, or lack what is used of them. */
  readonly read: (texts: readonly KubeConfigText[]) => Promise<ClusterConfig>;
}

/** Where a follower reports to. */
export interface FollowerOptions {
  readonly clock?: Pick<Clock, "monotonicMs"> | undefined;
  readonly log?: Log | undefined;
}

/** Between two looks at the files, milliseconds. */
const PERIOD_MS = 1_000;

/**
 * Follows kubeconfigs that are renewed in place, as Cluster API and Gardener do it: they are read again within a second after they changed, and at once when the server rejects the credentials. Files that cannot be read leave
 * the former configuration in use.
 *
 * @throws what `read` rejects with the first time
 */
export async function followKubeConfig(
  { files, read }: FollowedKubeConfig,
  { clock = systemClock, log = noLog }: FollowerOptions = {},
): Promise<ClusterConfig> {
  const file = files.join(delimiter);
  const reported = new Set<string>();
  const report = (error: unknown): void => {
    const message = messageOf(error);
    if (!reported.has(message))
      log("warn", "The kubeconfig has changed and cannot be read; what it was before stays in use", {
        file,
        error: message,
      });
    reported.add(message);
  };
  const texts = followKubeConfigFiles(files, report);
  let used = texts();
  const first = await read(used);
  let inUse = first;
  let lookedMs = clock.monotonicMs();
  let underway: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    lookedMs = clock.monotonicMs();
    const found = texts();
    if (found === used) return;
    try {
      inUse = await read(found);
      used = found;
      reported.clear();
      log("info", "The kubeconfig has changed and is read again", { file });
    } catch (error) {
      // Again with the next look: files that it names may be on their way.
      report(error);
    }
  };
  const current = async (isRejected = false): Promise<ClusterConfig> => {
    if (isRejected || clock.monotonicMs() - lookedMs >= PERIOD_MS)
      await (underway ??= look().finally(() => (underway = undefined)));
    return (await inUse.current?.(isRejected)) ?? inUse;
  };
  return { ...first, current };
}
