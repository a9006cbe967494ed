import { orAborted } from "@millwright/base";
import { deepFreeze } from "../cache/trim.ts";
import { ApiError } from "../client/api-error.ts";
import type { WatchEvent } from "../client/watch.ts";
import { equalJson } from "../json/json-merge-patch.ts";
import { parseJson } from "../json/parse-json.ts";
import { isApiObject } from "../objects/kube-object.ts";
import type { ApiObject, KubeObject } from "../objects/kube-object.ts";

interface Entry {
  readonly resource: string;
  readonly version: number;
  readonly event: WatchEvent;
}

/** What the fake API server keeps: objects by resource and key, and the history that watches read. */
export interface FakeStorage {
  resourceVersion(): string;
  get(resource: string, key: string): KubeObject | undefined;
  all(resource: string): readonly KubeObject[];
  /** Stores under a new version, unless nothing changed. */
  put(resource: string, key: string, object: KubeObject): KubeObject;
  /** Removes; the last state carries a new version. */
  drop(resource: string, key: string, last: KubeObject): KubeObject;
  /** Whether two states differ in metadata or status only. */
  sameSpec(a: KubeObject, b: KubeObject): boolean;
  /** `object` with the version of `old`. */
  withVersion(old: KubeObject, object: KubeObject): KubeObject;
  events(resource: string, after: string, signal: AbortSignal): AsyncGenerator<WatchEvent>;
  readonly compact: () => void;
  readonly endWatches: () => void;
}

/** A copy of an object as JSON has it: no undefined, no class instances, not frozen. */
export function plain(object: unknown): KubeObject {
  const copy = parseJson(JSON.stringify(object));
  if (!isApiObject(copy)) throw new TypeError("expected an object with metadata");
  return copy;
}

/** Makes an empty storage. */
export function createFakeStorage(): FakeStorage {
  // Invariants: stored objects are frozen and carry the version of their last change; `history` is in the order of versions.
  const resources = new Map<string, Map<string, KubeObject>>();
  let history: Entry[] = [];
  let compactedAt = 0;
  let version = 0;
  /** Resolved, and replaced, whenever something happens that watches must look at. */
  let changed = Promise.withResolvers<void>();
  let generation = 0;

  function announce(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  function collection(resource: string): Map<string, KubeObject> {
    const found = resources.get(resource) ?? new Map<string, KubeObject>();
    resources.set(resource, found);
    return found;
  }

  function commit(resource: string, type: WatchEvent["type"], object: KubeObject): KubeObject {
    version++;
    const stored = deepFreeze(plain({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }));
    history.push({ resource, version, event: { type, object: stored } });
    announce();
    return stored;
  }

  return {
    resourceVersion: () => String(version),
    get: (resource, key) => resources.get(resource)?.get(key),
    all: (resource) =>
      [...(resources.get(resource) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object),
    put(resource, key, object) {
      const old = collection(resource).get(key);
      if (old !== undefined && equalJson(withVersion(old, old), withVersion(old, object))) return old;
      const stored = commit(resource, old === undefined ? "ADDED" : "MODIFIED", object);
      collection(resource).set(key, stored);
      return stored;
    },
    drop(resource, key, last) {
      collection(resource).delete(key);
      return commit(resource, "DELETED", last);
    },
    sameSpec(a, b) {
      const { metadata: _, status: __, ...left } = a;
      const { metadata: ___, status: ____, ...right } = b;
      return equalJson(left, right);
    },
    withVersion,
    async *events(resource, after, signal) {
      const born = generation;
      let seen = Number(after);
      for (;;) {
        signal.throwIfAborted();
        if (seen < compactedAt) {
          throw new ApiError({ status: 410, reason: "Expired", message: `too old resource version: ${seen}` });
        }
        const last = seen;
        // From the end: tests with thousands of objects read a few new events of a long history, again and again.
        const fresh = history.slice(history.findLastIndex((entry) => entry.version <= last) + 1);
        for (const entry of fresh) {
          seen = entry.version;
          if (entry.resource === resource) yield entry.event;
        }
        if (generation !== born) return;
        if (fresh.length === 0) await orAborted(signal, changed.promise);
      }
    },
    compact: () => {
      history = [];
      version++;
      compactedAt = version;
      announce();
    },
    endWatches: () => {
      generation++;
      announce();
    },
  };
}

function withVersion(old: ApiObject, object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  const { resourceVersion } = old.metadata;
  return { ...object, metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
}
