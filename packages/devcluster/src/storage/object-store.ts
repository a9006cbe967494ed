import type { StoreEvent } from "./store-event.ts";
import { isStoredObject, namespaceOf, type PreparedObject, type StoredObject } from "../objects/stored-object.ts";
import type { JsonObject } from "../json/json.ts";
import { expired, internalError } from "../errors/status-error.ts";
import { createHistory, type History } from "./history.ts";
import type { Journal, JournalContent, JournalRecord } from "./journal.ts";
import { createSharing } from "./sharing.ts";

export type StoreSubscriber = (event: StoreEvent) => void;

/** Options of {@link createObjectStore}. */
export interface ObjectStoreOptions {
  /** Persists changes; without one the store is in memory only. */
  readonly journal?: Journal | undefined;
  /** How many changes of each collection can be replayed; older versions get 410. Default 4096. */
  readonly historyLimit?: number | undefined;
  /** The maximum size of those changes as JSON, bytes; the latest change always stays. Default 32 MiB. */
  readonly historyLimitBytes?: number | undefined;
}

/** All objects at one version. */
export interface Backup {
  readonly resourceVersion: number;
  readonly records: readonly JournalRecord[];
}

/** Objects by collection and key under one resourceVersion sequence, with a bounded history for watches. */
export interface ObjectStore {
  readonly resourceVersion: number;
  get(collection: string, namespace: string, name: string): StoredObject | undefined;
  /** Finds an object by uid in any collection. */
  byUid(uid: string): { readonly collection: string; readonly object: StoredObject } | undefined;
  /** All objects of a collection (of one namespace when given) in key order. */
  list(collection: string, namespace?: string): readonly StoredObject[];
  /**
   * As {@link list}, at a version that may be an earlier one, and after a key, so that a page needs no copy of the others. To be read at once: a change of the
   * store changes it. Throws 410 Expired when the history does not reach back so far.
   */
  scanAt(collection: string, namespace: string | undefined, resourceVersion: number, after?: string): Scan;
  /** Creates or updates an object and returns what is stored. */
  put(collection: string, object: PreparedObject): StoredObject;
  /** Removes an object and returns its last state (`last` if given); undefined when it does not exist. */
  remove(collection: string, namespace: string, name: string, last?: PreparedObject): StoredObject | undefined;
  /** Changes of a collection after a version. Throws 410 Expired when the history does not reach back so far. */
  since(collection: string, resourceVersion: number): readonly StoreEvent[];
  /**
   * Calls back after every change of a collection, or of all when none is given. Returns the function that unsubscribes.
   */
  subscribe(collection: string | undefined, subscriber: StoreSubscriber): () => void;
  collections(): readonly string[];
  /** The number of objects of a collection. */
  count(collection: string): number;
  /**
   * Deletes all objects and restarts the versions, like an etcd restored from nothing. Subscribers are not notified.
   */
  clear(): void;
  /** A copy of all objects, like a snapshot of etcd. */
  backup(): Backup;
  /**
   * Replaces all objects by those of a backup, like an etcd restored from a snapshot; earlier versions get 410. Subscribers are not notified.
   *
   * @param addedRevisions how much higher than in the backup versions continue, like `--bump-revision` of `etcdutl snapshot restore`
   */
  restore(backup: Backup, addedRevisions: number): void;
  /** Forgets the history, like a compaction of etcd: older versions get 410 from here on. */
  compactHistory(): void;
  close(): void;
}

/** Objects in the order of their keys, with their number. */
export interface Scan extends Iterable<StoredObject> {
  readonly count: number;
}

interface Collection {
  readonly objects: Map<string, StoredObject>;
  /** Keys in order; undefined when an insertion or removal has made it outdated. */
  sortedKeys: readonly string[] | undefined;
  history: History;
  readonly subscribers: Set<StoreSubscriber>;
}

/** Creates a store and loads its journal. */
export function createObjectStore(options: ObjectStoreOptions = {}): ObjectStore {
  const { journal, historyLimit = 4096, historyLimitBytes = 32 * 1024 * 1024 } = options;
  const collections = new Map<string, Collection>();
  const share = createSharing();
  const uids = new Map<string, { readonly collection: string; readonly object: StoredObject }>();
  const everySubscriber = new Set<StoreSubscriber>();
  let resourceVersion = 1;
  let floor = 0;

  const newHistory = (): History => createHistory(historyLimit, historyLimitBytes, floor);
  /** The object as it is stored: frozen, sharing equal parts with other objects. */
  const settled = (object: JsonObject): StoredObject => {
    const stored = share(object);
    if (!isStoredObject(stored)) throw internalError("an incomplete object reached the store");
    return stored;
  };

  const collectionOf = (name: string): Collection => {
    const known = collections.get(name);
    if (known !== undefined) return known;
    const created: Collection = {
      objects: new Map(),
      sortedKeys: undefined,
      history: newHistory(),
      subscribers: new Set(),
    };
    collections.set(name, created);
    return created;
  };

  const compactHistory = (): void => {
    floor = resourceVersion;
    for (const collection of collections.values()) collection.history = newHistory();
  };

  /** Applies records, oldest first, as the state at a version. */
  const load = (content: JournalContent): void => {
    for (const record of content.records) {
      const { objects } = collectionOf(record.collection);
      const previous = objects.get(record.key);
      if (previous !== undefined) uids.delete(previous.metadata.uid);
      if (record.object === undefined) objects.delete(record.key);
      else {
        const object = settled(record.object);
        objects.set(record.key, object);
        uids.set(object.metadata.uid, { collection: record.collection, object });
      }
    }
    resourceVersion = Math.max(1, content.resourceVersion);
    compactHistory();
  };

  if (journal !== undefined) load(journal.load());

  const keysOf = (collection: Collection): readonly string[] => {
    collection.sortedKeys ??= [...collection.objects.keys()].toSorted(compareKeys);
    return collection.sortedKeys;
  };

  const clear = (): void => {
    journal?.clear();
    collections.clear();
    uids.clear();
    resourceVersion = 1;
    floor = 0;
  };

  const live = () => ({
    resourceVersion,
    records: (function* records(): Generator<JournalRecord> {
      for (const [collection, { objects }] of collections) {
        for (const [key, object] of objects) yield { resourceVersion, collection, key, object };
      }
    })(),
  });

  const publish = (name: string, collection: Collection, event: StoreEvent): void => {
    collection.history.add(event);
    if (event.type !== "MODIFIED") collection.sortedKeys = undefined;
    if (event.previous !== undefined) uids.delete(event.previous.metadata.uid);
    if (event.type !== "DELETED") uids.set(event.object.metadata.uid, { collection: name, object: event.object });
    for (const subscriber of [...collection.subscribers, ...everySubscriber]) subscriber(event);
    journal?.compact(live);
  };

  const since = (name: string, version: number): readonly StoreEvent[] => {
    const { history } = collectionOf(name);
    if (version < history.replayableFrom) throw expired(version, history.replayableFrom);
    return history.since(version);
  };

  const scanAt: ObjectStore["scanAt"] = (name, namespace, version, after) => {
    const collection = collectionOf(name);
    const past = version >= resourceVersion ? [] : since(name, version);
    return scanBefore(past, collection.objects, keysOf(collection), namespace, after);
  };

  return {
    get resourceVersion() {
      return resourceVersion;
    },
    get: (name, namespace, objectName) => collections.get(name)?.objects.get(`${namespace}/${objectName}`),
    byUid: (uid) => uids.get(uid),
    list: (name, namespace) => [...scanAt(name, namespace, resourceVersion)],
    scanAt,
    put(name, object) {
      const version = resourceVersion + 1;
      const stored = settled({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
      const key = `${namespaceOf(stored)}/${stored.metadata.name}`;
      journal?.append({ resourceVersion: version, collection: name, key, object: stored });
      const collection = collectionOf(name);
      const previous = collection.objects.get(key);
      resourceVersion = version;
      collection.objects.set(key, stored);
      const type = previous === undefined ? "ADDED" : "MODIFIED";
      publish(name, collection, { type, collection: name, key, object: stored, previous, resourceVersion: version });
      return stored;
    },
    remove(name, namespace, objectName, last) {
      const collection = collectionOf(name);
      const key = `${namespace}/${objectName}`;
      const previous = collection.objects.get(key);
      if (previous === undefined) return undefined;
      const version = resourceVersion + 1;
      journal?.append({ resourceVersion: version, collection: name, key });
      resourceVersion = version;
      collection.objects.delete(key);
      const final = last ?? previous;
      const object = settled({ ...final, metadata: { ...final.metadata, resourceVersion: String(version) } });
      const event: StoreEvent = { type: "DELETED", collection: name, key, object, previous, resourceVersion: version };
      publish(name, collection, event);
      return object;
    },
    since,
    subscribe(name, subscriber) {
      const { subscribers } = name === undefined ? { subscribers: everySubscriber } : collectionOf(name);
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
    collections: () => [...collections.keys()],
    count: (name) => collections.get(name)?.objects.size ?? 0,
    clear,
    backup: () => ({ resourceVersion, records: [...live().records] }),
    restore({ resourceVersion: version, records }, addedRevisions) {
      clear();
      load({ resourceVersion: version + addedRevisions, records });
      for (const record of records) journal?.append({ ...record, resourceVersion });
    },
    compactHistory,
    close() {
      everySubscriber.clear();
      for (const collection of collections.values()) collection.subscribers.clear();
      journal?.close();
    },
  };
}

/** The objects of a namespace (of all when none is given) after a key, in order, as they were before these changes. */
function scanBefore(
  changes: readonly StoreEvent[],
  objects: ReadonlyMap<string, StoredObject>,
  present: readonly string[],
  namespace: string | undefined,
  after = "",
): Scan {
  const changed = statesBefore(changes);
  const stateOf = (key: string): StoredObject | undefined => (changed.has(key) ? changed.get(key) : objects.get(key));
  const isSame = [...changed].every(([key, state]) => state !== undefined && objects.has(key));
  const keys = isSame ? present : [...new Set([...present, ...changed.keys()])].filter(stateOf).toSorted(compareKeys);
  const prefix = namespace === undefined ? "" : `${namespace}/`;
  const first = firstAfter(keys, after > prefix ? after : prefix);
  const end = namespace === undefined ? keys.length : firstAfter(keys, `${prefix}\uFFFF`);
  return {
    count: Math.max(0, end - first),
    // Many objects have many pages: only those of this page are looked at.
    *[Symbol.iterator]() {
      for (let index = first; index < end; index += 1) {
        const object = stateOf(keys[index] ?? "");
        if (object !== undefined) yield object;
      }
    },
  };
}

/** The changed objects as they were before these changes; undefined is one that was not there. */
function statesBefore(changes: readonly StoreEvent[]): ReadonlyMap<string, StoredObject | undefined> {
  const states = new Map<string, StoredObject | undefined>();
  for (const { key, previous } of changes.toReversed()) states.set(key, previous);
  return states;
}

/** The index of the first of these keys, which are in order, that is greater than a text. */
function firstAfter(keys: readonly string[], text: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") > text) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Orders keys bytewise as etcd does: every namespace's objects stay together. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
