import type { ClusterFaults } from "../cluster-faults/cluster-faults.ts";
import { namespaceOf, type StoredObject } from "../objects/stored-object.ts";
import { field, stringAt, withField } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { deleteObject, foregroundFinalizer, orphanFinalizer } from "../verbs/delete.ts";
import { commit } from "../verbs/update.ts";
import { backgroundDeletion } from "./custom-resources.ts";
import { createDeferredRun } from "./deferred-run.ts";

/**
 * Follows owner references like the garbage collector of kube-controller-manager. An object whose owners are all deleted is
 * deleted. An owner deleted in the foreground waits for its dependents; one deleted with orphaning removes their owner
 * references first.
 */
export function runGarbageCollector(
  context: ServerContext,
  clusterFaults: Pick<ClusterFaults, "list" | "subscribe">,
): () => void {
  const { store, log } = context;
  const dependents = new Map<string, Set<string>>();
  const pending = new Set<string>();

  const forget = (object: StoredObject): void => {
    for (const owner of ownersOf(object)) {
      const uids = dependents.get(owner);
      uids?.delete(object.metadata.uid);
      if (uids?.size === 0) dependents.delete(owner);
    }
  };
  const learn = (object: StoredObject): void => {
    for (const owner of ownersOf(object)) {
      const uids = dependents.get(owner) ?? new Set<string>();
      dependents.set(owner, uids.add(object.metadata.uid));
    }
  };
  const dependentsOf = (owner: string): readonly StoredObject[] =>
    [...(dependents.get(owner) ?? [])].flatMap((uid) => store.byUid(uid)?.object ?? []);

  const isStopped = (): boolean => clusterFaults.list().some(({ fault }) => fault.kind === "garbage-collector-stops");
  const work = createDeferredRun(() => {
    if (isStopped()) return;
    const uids = [...pending];
    pending.clear();
    for (const uid of uids) {
      try {
        visit(context, uid, dependentsOf(uid));
      } catch (error) {
        log("warn", "Failed to garbage-collect an object", { uid, error });
      }
    }
  });
  const examine = (object: StoredObject): void => {
    const { uid, finalizers = [], deletionTimestamp } = object.metadata;
    const holds = finalizers.includes(foregroundFinalizer) || finalizers.includes(orphanFinalizer);
    if (ownersOf(object).length === 0 && !(deletionTimestamp !== undefined && holds)) return;
    pending.add(uid);
    work.schedule();
  };

  for (const collection of store.collections()) {
    for (const object of store.list(collection)) {
      learn(object);
      examine(object);
    }
  }
  const unsubscribe = store.subscribe(undefined, ({ type, object, previous }) => {
    if (previous !== undefined) forget(previous);
    if (type !== "DELETED") {
      learn(object);
      examine(object);
      return;
    }
    for (const uid of dependents.get(object.metadata.uid) ?? []) pending.add(uid);
    // Owners that wait for this object in the foreground are checked again.
    for (const owner of ownersOf(object)) pending.add(owner);
    if (pending.size > 0) work.schedule();
  });
  const unsubscribeFaults = clusterFaults.subscribe(() => work.schedule());
  return () => {
    unsubscribeFaults();
    unsubscribe();
    work.stop();
  };
}

function ownersOf(object: StoredObject): readonly string[] {
  return (object.metadata.ownerReferences ?? []).flatMap((owner) => stringAt(owner, "uid") ?? []);
}

function visit(context: ServerContext, uid: string, dependents: readonly StoredObject[]): void {
  const { store, registry } = context;
  const found = store.byUid(uid);
  if (found === undefined) return;
  const { object, collection } = found;
  const definition = registry.all().find((candidate) => candidate.collection === collection);
  if (definition === undefined) return;
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) {
    if (finalizers.includes(orphanFinalizer)) orphan(context, definition, object, dependents);
    else if (finalizers.includes(foregroundFinalizer)) deleteInForeground(context, definition, object, dependents);
    return;
  }
  const owners = ownersOf(object);
  if (owners.length === 0 || owners.some((owner) => store.byUid(owner) !== undefined)) return;
  deleteObject(context, definition, refOf(object), { ...backgroundDeletion, uid });
}

function deleteInForeground(
  context: ServerContext,
  definition: ResourceDefinition,
  owner: StoredObject,
  dependents: readonly StoredObject[],
): void {
  for (const dependent of dependents) {
    const kind = definitionOf(context, dependent);
    if (kind === undefined || dependent.metadata.deletionTimestamp !== undefined) continue;
    deleteObject(context, kind, refOf(dependent), {
      ...backgroundDeletion,
      propagation: "Foreground",
      uid: dependent.metadata.uid,
    });
  }
  const blocking = dependents.filter(
    (dependent) =>
      context.store.byUid(dependent.metadata.uid) !== undefined &&
      (dependent.metadata.ownerReferences ?? []).some(
        (reference) =>
          field(reference, "uid") === owner.metadata.uid && field(reference, "blockOwnerDeletion") === true,
      ),
  );
  if (blocking.length === 0) dropFinalizer(context, definition, owner, foregroundFinalizer);
}

function orphan(
  context: ServerContext,
  definition: ResourceDefinition,
  owner: StoredObject,
  dependents: readonly StoredObject[],
): void {
  for (const dependent of dependents) {
    const kind = definitionOf(context, dependent);
    if (kind === undefined) continue;
    const left = (dependent.metadata.ownerReferences ?? []).filter(
      (reference) => field(reference, "uid") !== owner.metadata.uid,
    );
    const path = ["metadata", "ownerReferences"];
    commit(context, kind, dependent, withField(dependent, path, left.length === 0 ? undefined : left));
  }
  dropFinalizer(context, definition, owner, orphanFinalizer);
}

function dropFinalizer(
  context: ServerContext,
  definition: ResourceDefinition,
  object: StoredObject,
  finalizer: string,
): void {
  const current = context.store.byUid(object.metadata.uid)?.object;
  if (current === undefined) return;
  const left = (current.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  commit(context, definition, current, withField(current, ["metadata", "finalizers"], left));
}

function definitionOf({ store, registry }: ServerContext, object: StoredObject): ResourceDefinition | undefined {
  const collection = store.byUid(object.metadata.uid)?.collection;
  return registry.all().find((candidate) => candidate.collection === collection);
}

function refOf(object: StoredObject): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaceOf(object), name: object.metadata.name };
}
