import type { ResourceType } from "@millwright/base";
import type { ReadonlyStore } from "../cache/store.ts";
import type { ApiClient } from "../client/api-client.ts";
import { hasFinalizer } from "../objects/finalizers.ts";
import type { ApiObject } from "../objects/kube-object.ts";

/**
 * Confirms with the API server, not the cache, that an owner has the same UID and is not being deleted. An object that a terminating owner adopts would be
 * deleted by the garbage collector. Throws when the owner may not adopt.
 */
export async function confirmOwner(api: Pick<ApiClient, "get">, type: ResourceType, owner: ApiObject): Promise<void> {
  const { name = "", namespace, uid } = owner.metadata;
  const live = await api.get(type, { name, namespace });
  if (live.metadata.uid !== uid) throw new Error(`${type.kind} ${name} was replaced by another one; it adopts nothing`);
  if (live.metadata.deletionTimestamp !== undefined)
    throw new Error(`${type.kind} ${name} is being deleted; it adopts nothing`);
}

/** {@link confirmOwner} for one reconcile: called before the first adoption; the result applies to all. */
export function confirmOwnerOnce(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  owner: ApiObject,
): () => Promise<void> {
  let answer: Promise<void> | undefined;
  return () => (answer ??= confirmOwner(api, type, owner));
}

/** Kubernetes' finalizer of a deletion that keeps dependents (`--cascade=orphan`): the garbage collector removes their owner references, then the finalizer. */
const ORPHAN_FINALIZER = "orphan";

/** Whether the garbage collector still has to remove the owner references of the dependents of a terminating owner. */
export const isOrphaning = (owner: ApiObject): boolean =>
  owner.metadata.deletionTimestamp !== undefined && hasFinalizer(owner, ORPHAN_FINALIZER);

/** Owners that are deleted without their dependents. */
export interface OrphaningOwners {
  /** Whether the deletion keeps the dependents: `waiting` while the garbage collector has its finalizer on the owner, `released` once it is done. */
  stateOf(owner: ApiObject): "waiting" | "released" | undefined;
}

/**
 * Remembers which terminating owners had the finalizer `orphan`. The garbage collector may have removed it before a reconcile, while the cache still has dependents with the
 * owner: these must not be deleted. Every event counts, also of those that a reconcile skips. A process that started later relies on the resourceVersion with which dependents of a
 * terminating owner are deleted.
 */
export function watchOrphaningOwners<T extends ApiObject>(store: Pick<ReadonlyStore<T>, "subscribe">): OrphaningOwners {
  const uids = new Set<string>();
  store.subscribe((old, current) => {
    const { uid = "" } = (current ?? old)?.metadata ?? {};
    if (current === undefined) uids.delete(uid);
    else if (isOrphaning(current)) uids.add(uid);
  });
  return {
    stateOf(owner) {
      if (isOrphaning(owner)) return "waiting";
      return uids.has(owner.metadata.uid ?? "") ? "released" : undefined;
    },
  };
}
