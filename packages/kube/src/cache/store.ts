import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { objectFields } from "../objects/log-fields.ts";
import { keyFor, keyOf } from "../objects/kube-object.ts";
import type { ApiObject, KubeObject, ObjectRef } from "../objects/kube-object.ts";
import { compareResourceVersions, isNewer } from "../objects/resource-version.ts";
import { runInSlices } from "../slices.ts";
import type { SliceOptions } from "../slices.ts";
import { isOther, loweredGeneration } from "./same-object.ts";
import { createStoreIndex } from "./store-index.ts";
import type { IndexFunction, StoreIndex } from "./store-index.ts";
import { createTombstones, type DeletedObject, type Deletion } from "./tombstones.ts";
import { trimObject } from "./trim.ts";
import { createValuePool } from "./value-pool.ts";

/**
 * Called with each change: `old` is undefined when the object is new, `current` is undefined when it is deleted (`old` is then the last
 * known state). In a resync both are the same object. Both are frozen. Errors are
 * logged and do not affect other subscribers.
 */
export type StoreSubscriber<T extends ApiObject> = (old: T | undefined, current: T | undefined) => void;

/** The reading side of a store. Objects are frozen and shared: never copy them to read, never try to change them. */
export interface ReadonlyStore<T extends ApiObject, Index extends string = never> {
  readonly size: number;
  /** By key, `namespace/name` or `name`. */
  get(key: string): T | undefined;
  getByRef(ref: ObjectRef): T | undefined;
  /** All objects, or those of one namespace, in no particular order: sort before acting. */
  list(namespace?: string): readonly T[];
  /** All objects that have a value in an index. */
  byIndex(index: Index, value: string): readonly T[];
  /**
   * Registers a subscriber, called synchronously with each change, after the store and its indexes have it.
   *
   * @param options.replay first calls it with everything that is there, as if new. Default true.
   * @returns ends the subscription
   */
  subscribe(subscriber: StoreSubscriber<T>, options?: { readonly replay?: boolean }): () => void;
  /**
   * Puts the response of an own write into the store at once, so that the next reconcile sees it. Compares resource versions:
   * a response that is older than the stored object changes nothing. A terminating object without
   * finalizers is treated as deleted.
   */
  applyWrite(object: T): void;
  /**
   * Records that an object does not exist any more, as the answer to an own request showed. A late event of it does not restore it; another object of that name is not concerned.
   * Nothing without a UID.
   */
  applyDelete(ref: ObjectRef & { readonly uid: string | undefined }): void;
}

/** A moment at which a list was started; see {@link Store.beginList}. */
export interface ListMark {
  readonly newest: string | undefined;
  /** Number of deletions seen before. */
  readonly deletions: number;
}

/** What a complete list means for the store; see {@link Replacement.finish}. */
export interface FinishOptions extends SliceOptions {
  /** The server is known to have gone back since the last list: the list is right where the store has newer versions. Default false. */
  readonly isRewound?: boolean;
}

/**
 * A list that is being read into a store: objects come one by one and are trimmed at once, so that a large list is never
 * in memory as it came over the wire.
 */
export interface Replacement<T extends ApiObject> {
  /** An object of the list. The store does not show it before {@link Replacement.finish}. */
  add(object: T): void;
  /** The list starts again: drops what was added. */
  startAgain(): void;
  /**
   * The list is complete: the store becomes equal to it, by the rules of {@link Store.replaceAll}, in slices between which the
   * event loop runs.
   *
   * Guaranteed: each object changes from its former state to its new one in one step, in which subscribers are called, and never
   * back; new and changed objects come first, in the order of the list, deletions afterwards; own writes may come in between
   * and win when they are newer. Not guaranteed: that a reader between two slices sees all of the list or none.
   *
   * @throws the reason of `signal` when that aborts; what was done so far stays
   */
  finish(resourceVersion: string | undefined, options: FinishOptions): Promise<void>;
  /** What shows that the server went back to an earlier state since the last list; undefined when nothing does. To be called before {@link Replacement.finish}. */
  findRewind(resourceVersion: string | undefined): string | undefined;
  /** Objects of the store that {@link Replacement.finish} would remove. */
  missing(resourceVersion: string | undefined): readonly T[];
}

/** A store with its writing side, which belongs to one reflector. */
export interface Store<T extends ApiObject, Index extends string = never> extends ReadonlyStore<T, Index> {
  /** An ADDED or MODIFIED event. Ignored when the store has that version, or a newer one, already. */
  applyEvent(object: T): void;
  /** A DELETED event. Ignored when the store holds a newer object of that name. */
  applyDeletion(object: T): void;
  /** To be called before a list is requested; its result goes to {@link Store.replaceAll}. */
  beginList(): ListMark;
  /**
   * The result of a whole list: objects that are not in it are deleted. Own writes while the list was being read are
   * newer than the list and stay. A list older than what was known when it started means that the server returned to an
   * earlier state (restored from a backup, or started empty): then the list replaces the store.
   */
  replaceAll(items: readonly T[], resourceVersion: string | undefined, mark: ListMark): void;
  /** Objects that are newer than a version, in no particular order. */
  newerThan(resourceVersion: string | undefined): readonly T[];
  /** Objects that were deleted after a version, as far as that is known, the latest first. */
  deletedSince(resourceVersion: string | undefined): readonly DeletedObject[];
  /** As `beginList` and `replaceAll`, for lists that come bit by bit or are so large that they must not block. */
  beginReplacement(): Replacement<T>;
  /**
   * Calls `listener` with what shows, outside of a list, that the server went back to an earlier state: an own write or an event with a newer version of an object, but a lower
   * `metadata.generation`, which a server never lowers. The object is not applied: the rest of the store would not fit it, and the next list would show nothing.
   */
  onRewind(listener: (found: string) => void): void;
  /** Calls all subscribers with each object as if it had changed, with (same, same). In slices; see {@link Replacement.finish}. */
  resync(options: SliceOptions): Promise<void>;
}

/** Options of {@link createStore}. */
export interface StoreOptions<T extends ApiObject, Index extends string> {
  /** Named indexes. */
  readonly indexes?: Readonly<Record<Index, IndexFunction<T>>>;
  /** What is kept of an object; must not change its argument. Default {@link trimObject}. */
  readonly trim?: (object: T) => T;
  readonly log?: Log | undefined;
}

/** Makes an empty store. */
export function createStore<T extends ApiObject = KubeObject, Index extends string = never>(
  options: StoreOptions<T, Index> = {},
): Store<T, Index> {
  const log = options.log ?? noLog;
  const trim = options.trim ?? trimObject<T>;

  // Invariants:
  // - every object is frozen and trimmed, and found under its own key;
  // - every index describes exactly the objects that are here;
  // - for one uid, versions only grow, unless the server itself went back (replaceAll);
  // - what has a tombstone is not here.
  const objects = new Map<string, T>();
  const indexes = new Map<string, StoreIndex<T>>();
  const tombstones = createTombstones();
  const subscribers = new Set<StoreSubscriber<T>>();
  const rewindListeners: ((found: string) => void)[] = [];
  const pool = createValuePool();
  /** The newest version seen in anything. */
  let newest: string | undefined;

  const definitions: Readonly<Record<string, IndexFunction<T>>> = options.indexes ?? {};
  for (const [name, indexFunction] of Object.entries(definitions)) {
    const failed = (error: unknown, object: T) =>
      log("error", "An index function threw", { index: name, ...objectFields(object), error: messageOf(error) });
    indexes.set(name, createStoreIndex(indexFunction, failed));
  }

  function noteVersion(version: string | undefined): void {
    if (version !== undefined && (newest === undefined || isNewer(version, newest))) newest = version;
  }

  function notify(subscriber: StoreSubscriber<T>, old: T | undefined, current: T | undefined): void {
    try {
      subscriber(old, current);
    } catch (error) {
      const object = current ?? old;
      log("error", "A subscriber of a store threw", {
        ...(object === undefined ? {} : objectFields(object)),
        error: messageOf(error),
      });
    }
  }

  function set(key: string, current: T | undefined): void {
    const old = objects.get(key);
    if (old === undefined && current === undefined) return;
    if (current === undefined) objects.delete(key);
    else objects.set(key, current);
    for (const index of indexes.values()) index.update(key, current);
    for (const subscriber of Array.from(subscribers)) notify(subscriber, old, current);
  }

  /** What is kept of an object. One that cannot be kept must not prevent all others of its type from being kept: it stays as it was, or has only its identity. */
  function prepare(object: T): T {
    const key = keyOf(object);
    const former = objects.get(key);
    try {
      return former === undefined ? pool.freezeShared(trim(object)) : pool.freezeChanged(trim(object), former);
    } catch (error) {
      log("error", "Failed to read an object; it is kept as it was", {
        ...objectFields(object),
        error: messageOf(error),
      });
      return withoutContent(object, former);
    }
  }
  /** For what is prepared already. */
  const kept = (object: T): T => object;

  /** Replaces what is under the key; another object of the same name (another uid) is a deletion and an addition. */
  function put(key: string, incoming: T, keep: (object: T) => T, drop = supersede): void {
    const old = objects.get(key);
    if (old !== undefined && isOther(old, incoming)) drop(key, old, incoming.metadata.resourceVersion);
    set(key, keep(incoming));
  }

  /** Removes what does not exist any more at a version. */
  function supersede(key: string, object: T, resourceVersion: string | undefined): void {
    remove(key, deletionBefore(object, resourceVersion));
  }

  /** Removes what an earlier state of the server lacks. The server may only have lagged behind: then the watch from that state brings it back. */
  const rewind = (key: string): void => set(key, undefined);

  function remove(key: string, deletion: Deletion): void {
    tombstones.add(key, deletion);
    set(key, undefined);
  }

  function accept(object: T, keep: (object: T) => T): void {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    noteVersion(resourceVersion);
    if (tombstones.covers(key, uid, resourceVersion)) return;
    const old = objects.get(key);
    const order = compareResourceVersions(resourceVersion, old?.metadata.resourceVersion);
    if (order !== undefined && order <= 0) return;
    // Where versions cannot be compared, it may be a late event of what an own write has changed.
    const lowered = order === undefined ? undefined : loweredGeneration(old, object);
    if (lowered !== undefined) for (const listener of rewindListeners) listener(`${key} ${lowered}`);
    else put(key, object, keep);
  }

  const beginList = (): ListMark => ({ newest, deletions: tombstones.now() });
  const applyEvent = (object: T): void => accept(object, prepare);

  function applyDeletion(object: T): void {
    const key = keyOf(object);
    noteVersion(object.metadata.resourceVersion);
    const old = objects.get(key);
    if (
      old !== undefined &&
      isOther(old, object) &&
      isNewer(old.metadata.resourceVersion, object.metadata.resourceVersion)
    ) {
      return;
    }
    const { uid, resourceVersion } = object.metadata;
    const deletion: Deletion = { uid, resourceVersion, isObserved: true };
    if (old === undefined) return tombstones.add(key, deletion);
    // The subscribers get the final state, which may differ from what the store had.
    const order = compareResourceVersions(object.metadata.resourceVersion, old.metadata.resourceVersion);
    if (!isOther(old, object) && order !== undefined && order > 0) objects.set(key, prepare(object));
    remove(key, deletion);
  }

  /**
   * What in a list cannot be, if the server's history is still the one that the store has seen: an older version of the whole or of an object, or an
   * object that was deleted.
   */
  function findRewind(items: readonly T[], resourceVersion: string | undefined, mark: ListMark): string | undefined {
    if (isNewer(mark.newest, resourceVersion))
      return `a list at version ${resourceVersion} after version ${mark.newest}`;
    for (const item of items) {
      const key = keyOf(item);
      const { uid, resourceVersion: listed } = item.metadata;
      const had = objects.get(key);
      const known = had === undefined || isOther(had, item) ? undefined : had.metadata.resourceVersion;
      if (known !== undefined && known === listed) continue;
      if (isNewer(known, listed) && !isNewer(known, resourceVersion)) {
        return `${key} at version ${listed} after version ${known}`;
      }
      const lowered = loweredGeneration(had, item);
      if (lowered !== undefined) return `${key} ${lowered}`;
      const deletion = tombstones.contradictedBy({ key, uid, resourceVersion, begunAt: mark.deletions });
      if (deletion === undefined) continue;
      if (deletion.isObserved && deletion.resourceVersion !== undefined) return `${key} after it was deleted`;
      // The list that lacked it was not complete.
      tombstones.remove(key, uid);
    }
    return undefined;
  }

  /** Makes the store equal to a list; may be interrupted after each step. */
  function* replace(
    items: readonly T[],
    resourceVersion: string | undefined,
    isRewound: boolean,
    keep: (object: T) => T,
  ): Generator<void> {
    if (isRewound) {
      tombstones.clear();
      newest = resourceVersion;
    }
    const before = Array.from(objects);
    const listed = new Set<string>();
    for (const item of items) {
      const key = keyOf(item);
      listed.add(key);
      if (isRewound) put(key, item, keep, rewind);
      else accept(item, keep);
      yield;
    }
    for (const [key, old] of before) {
      if (listed.has(key)) continue;
      const object = objects.get(key);
      if (object === undefined) continue;
      // Own writes after the list are newer and stay. If the server returned to an earlier state versions cannot be compared: keep what was written since.
      if (isRewound ? object !== old : isNewer(object.metadata.resourceVersion, resourceVersion)) continue;
      (isRewound ? rewind : supersede)(key, object, resourceVersion);
      yield;
    }
    noteVersion(resourceVersion);
  }

  function* resync(): Generator<void> {
    for (const key of Array.from(objects.keys())) {
      const object = objects.get(key);
      if (object === undefined) continue;
      for (const subscriber of Array.from(subscribers)) notify(subscriber, object, object);
      yield;
    }
  }

  return {
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(key),
    getByRef: (ref) => objects.get(keyFor(ref)),
    list(namespace) {
      const all = [...objects.values()];
      return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
    },
    byIndex(name, value) {
      const index = indexes.get(name);
      if (index === undefined) throw new TypeError(`the store has no index "${name}"`);
      // In one loop: most look-ups find one object or none, and there are several for each machine of a large set.
      const found: T[] = [];
      for (const key of index.keys(value)) {
        const object = objects.get(key);
        if (object !== undefined) found.push(object);
      }
      return found;
    },
    subscribe(subscriber, { replay = true } = {}) {
      if (replay) for (const object of Array.from(objects.values())) notify(subscriber, undefined, object);
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
    applyWrite(object) {
      const { deletionTimestamp, finalizers = [] } = object.metadata;
      const graceful = (object.metadata.deletionGracePeriodSeconds ?? 0) > 0;
      if (deletionTimestamp !== undefined && finalizers.length === 0 && !graceful) applyDeletion(object);
      else applyEvent(object);
    },
    applyDelete({ uid, ...ref }) {
      if (uid === undefined) return;
      const key = keyFor(ref);
      const deletion: Deletion = { uid, resourceVersion: undefined, isObserved: true };
      if (objects.get(key)?.metadata.uid === uid) remove(key, deletion);
      else tombstones.add(key, deletion);
    },
    applyEvent,
    applyDeletion,
    onRewind: (listener) => void rewindListeners.push(listener),
    beginList,
    replaceAll(items, resourceVersion, mark) {
      const isRewound = findRewind(items, resourceVersion, mark) !== undefined;
      const steps = replace(items, resourceVersion, isRewound, prepare);
      while (steps.next().done !== true);
    },
    deletedSince: tombstones.since,
    newerThan: (version) =>
      Array.from(objects.values()).filter(({ metadata }) => isNewer(metadata.resourceVersion, version)),
    beginReplacement() {
      const mark = beginList();
      const items: T[] = [];
      return {
        add: (object) => void items.push(prepare(object)),
        startAgain: () => void items.splice(0),
        missing: (version) => missingIn(objects, items, version),
        findRewind: (version) => findRewind(items, version, mark),
        finish: (version, finishOptions) =>
          runInSlices(replace(items, version, finishOptions.isRewound === true, kept), finishOptions),
      };
    },
    resync: (slicing) => runInSlices(resync(), slicing),
  };
}

/** Objects of a store that a list lacks, though they are not newer than it. */
function missingIn<T extends ApiObject>(
  objects: ReadonlyMap<string, T>,
  items: readonly T[],
  resourceVersion: string | undefined,
): readonly T[] {
  const listed = new Set(items.map(keyOf));
  return Array.from(objects)
    .filter(([key, object]) => !listed.has(key) && !isNewer(object.metadata.resourceVersion, resourceVersion))
    .map(([, object]) => object);
}

/** The deletion of an object that is known to be deleted at a version. */
function deletionBefore({ metadata }: ApiObject, resourceVersion: string | undefined): Deletion {
  const newest = isNewer(resourceVersion, metadata.resourceVersion) ? resourceVersion : metadata.resourceVersion;
  return { uid: metadata.uid, resourceVersion: newest, isObserved: false };
}

/** The former state of an object with its new version; without one, its identity. */
function withoutContent<T extends ApiObject>(object: T, former: T | undefined): T {
  const { apiVersion, kind } = object;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const known =
    former !== undefined && !isOther(former, object)
      ? former
      : { apiVersion, kind, metadata: { name, namespace, uid } };
  const metadata = Object.freeze({ ...known.metadata, resourceVersion });
  // No more of it can be read: the type is a claim in any case.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.freeze({ ...known, metadata }) as ApiObject as T;
}
