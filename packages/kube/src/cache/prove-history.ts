import type { ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { type ApiObject, newestOf, parseKey } from "../objects/kube-object.ts";
import { isNewer } from "../objects/resource-version.ts";
import { samples, versionOf } from "./confirm-list.ts";
import type { Store } from "./store.ts";

/** What {@link proveHistory} needs. */
export interface HistoryProofOptions {
  readonly api: Pick<ApiClient, "get">;
  readonly type: ResourceType;
  readonly store: Pick<Store<ApiObject>, "list" | "deletedSince">;
}

/**
 * Proves that a server still has the history that a cache has seen, before a watch continues that did not end by itself. Meanwhile etcd may have been restored from a backup. Versions
 * alone do not show that: kubelets write so much that those of a restored server soon pass those of the cache, and a watch from there misses what was changed before.
 *
 * A server that has the newest object of the cache at the same version has had the same history up to there, and the watch continues from there: a bookmark after it may be of a
 * history that no longer exists. An object that has changed since proves nothing, but its event is still to come. One that does not exist, or is older, was deleted, or never
 * existed in the history of the server, in which no event shows it. This costs one request in a quiet cluster, and not a list.
 *
 * @param version up to which the cache is complete
 * @returns where the watch continues; undefined when everything has to be listed again
 * @throws ApiError when an object cannot be read for another reason than missing permissions
 */
export async function proveHistory(
  { api, type, store }: HistoryProofOptions,
  version: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const proven = await findUnchanged({ api, type, store }, signal);
  if (proven === undefined) return undefined;
  const deleted = store.deletedSince(proven);
  if (deleted.length > samples) return undefined;
  for (const { key, uid } of deleted) {
    if ((await versionOf(api, type, { ...parseKey(key), uid }, signal)) !== undefined) return undefined;
  }
  return isNewer(version, proven) ? proven : version;
}

/** The version of the newest object that has not changed; undefined when a newer one is gone or older, or all that were read have changed. */
async function findUnchanged(
  { api, type, store }: HistoryProofOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const object of newestOf(store.list(), samples)) {
    const known = object.metadata.resourceVersion;
    const found = await versionOf(api, type, object.metadata, signal);
    if (found === known) return known;
    if (!isNewer(found, known)) return undefined;
  }
  return undefined;
}
