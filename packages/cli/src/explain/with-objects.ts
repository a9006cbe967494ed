import { systemClock } from "@millwright/base";
import { type ApiClient, createApiClient, loadKubeConfig } from "@millwright/kube";
import type { ClusterObjects } from "@millwright/runtime/reports";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";

/** Flags that select where objects are read. */
export interface ObjectFlags extends TargetFlags, NamespaceFlags {
  /** A snapshot, or other manifests, instead of a cluster. */
  readonly state?: string;
}

/** Clients of both clusters, as the flags select them. */
export interface Clusters {
  readonly control: ApiClient;
  /** Absent where machines join no cluster. */
  readonly target?: ApiClient;
  readonly namespace: string;
}

/** Opens the clusters that the flags select, and closes them afterwards. */
export async function withClusters<T>(flags: ObjectFlags, use: (clusters: Clusters) => Promise<T>): Promise<T> {
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  const hasTarget = flags.targetKubeconfig !== "none";
  const isSeparate = flags.targetKubeconfig !== undefined && hasTarget;
  const target = isSeparate ? createApiClient(await loadTargetConfig(flags), { userAgent: "millwright" }) : control;
  try {
    const namespace = flags.namespace ?? config.namespace ?? "default";
    return await use({ control, ...(hasTarget ? { target } : {}), namespace });
  } finally {
    await Promise.all([control.close(), ...(isSeparate ? [target.close()] : [])]);
  }
}

/** Reads the objects of a file that `--state` names, and its time. */
export async function objectsOfFile(
  path: string,
  { namespace, targetKubeconfig }: ObjectFlags,
): Promise<{ readonly objects: ClusterObjects; readonly now: Date }> {
  const { readManifests, stateOfManifests } = await import("@millwright/plan");
  const { drainSourcesOf } = await import("@millwright/runtime/reports");
  const state = stateOfManifests(await readManifests(path), namespace, targetKubeconfig !== "none");
  const drainSources = async (): Promise<ReturnType<typeof drainSourcesOf>> => drainSourcesOf(await state.drainLists());
  return { objects: { ...state, drainSources }, now: state.takenAt ?? systemClock.now() };
}

/** Reads the objects that the flags select, with their time. */
export async function withObjects<T>(
  flags: ObjectFlags,
  signal: AbortSignal,
  use: (objects: ClusterObjects, now: Date) => Promise<T>,
): Promise<T> {
  if (flags.state !== undefined) {
    const { objects, now } = await objectsOfFile(flags.state, flags);
    return use(objects, now);
  }
  const { readClusterObjects } = await import("@millwright/runtime/reports");
  return withClusters(flags, async (clusters) => {
    const objects = await readClusterObjects({ ...clusters, signal });
    return use(objects, (clusters.control.serverTime ?? systemClock).now());
  });
}
