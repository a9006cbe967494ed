import { stat } from "node:fs/promises";
import { delimiter } from "node:path";
import { type Clock, systemClock } from "@millwright/base";
import { type Log, messageOf, noLog } from "../log.ts";
import type { ClusterConfig } from "./cluster-config.ts";

/** What {@link followKubeConfig} needs. */
export interface FollowedKubeConfig {
  readonly files: readonly string[];
  /** Reads the files. Rejects with a ConfigError when they are half written, or lack what is used of them. */
  readonly read: () => Promise<ClusterConfig>;
}

/** Where a follower reports to. */
export interface FollowerOptions {
  readonly clock?: Pick<Clock, "monotonicMs"> | undefined;
  readonly log?: Log | undefined;
}

/** Between two looks at the files, milliseconds. */
const PERIOD_MS = 1_000;

/** Changes with each file: a mounted Secret is a link to another file then. */
async function stampOf(files: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs, size, ino }) => `${mtimeMs}/${size}/${ino}`,
        () => "",
      ),
    ),
  );
  return stamps.join();
}

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
  // Before they are read: what changes meanwhile is read again.
  let stamp = await stampOf(files);
  const first = await read();
  let inUse = first;
  let lookedMs = clock.monotonicMs();
  let underway: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    lookedMs = clock.monotonicMs();
    const found = await stampOf(files);
    if (found === stamp) return;
    stamp = found;
    try {
      inUse = await read();
      log("info", "The kubeconfig has changed and is read again", { file });
    } catch (error) {
      log("warn", "The kubeconfig has changed and cannot be read; what it was before stays in use", {
        file,
        error: messageOf(error),
      });
    }
  };
  const current = async (isRejected = false): Promise<ClusterConfig> => {
    if (isRejected || clock.monotonicMs() - lookedMs >= PERIOD_MS)
      await (underway ??= look().finally(() => (underway = undefined)));
    return (await inUse.current?.(isRejected)) ?? inUse;
  };
  return { ...first, current };
}
