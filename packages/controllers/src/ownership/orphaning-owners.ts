import type { ApiObject, ReadonlyStore } from "@millwright/kube";

/** Kubernetes' finalizer of a deletion that keeps dependents (`--cascade=orphan`): the garbage collector removes their owner references, then the finalizer. */
const ORPHAN_FINALIZER = "orphan";

/** Whether the garbage collector still has to remove the owner references of the dependents of a terminating owner. */
export const isOrphaning = ({ metadata }: ApiObject): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(ORPHAN_FINALIZER) === true;

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
