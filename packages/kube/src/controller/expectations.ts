import type { Clock } from "@millwright/base";
import type { ReadonlyStore } from "../cache/store.ts";
import { isBeingDeleted } from "../objects/finalizers.ts";
import type { ApiObject } from "../objects/kube-object.ts";

/** Options of {@link createExpectations}. */
export interface ExpectationsOptions {
  readonly clock: Clock;
  /** Timeout of expectations, milliseconds. Default 5 min, as in client-go. */
  readonly timeoutMs?: number | undefined;
}

/** The unfulfilled expectations of an owner. */
export interface Outstanding {
  /** Names of objects whose creation was requested and is not visible in the cache yet. They may or may not exist. */
  readonly creations: readonly string[];
  /** Uids of objects whose deletion was requested, and that are not terminating in the cache yet. */
  readonly deletions: readonly string[];
  /** When the first of them expires, milliseconds from now: requeue then at the latest. */
  readonly expiresInMs: number;
}

/**
 * The creations and deletions of each owner (a key) that its cache does not show yet, so that a reconcile does not repeat them:
 * client-go's `UIDTrackingControllerExpectations`, also for creations, which are tracked by name because an object has no uid before
 * it exists. Kept in memory only: a new process starts with a new list.
 *
 * The safe order: expect, then send the request; when the server rejected it, remove the expectation
 * ({@link Expectations.creationRejected}); when the request may have succeeded (`mayHaveSucceeded`: no response, a server error, an abort), keep it. Either the cache
 * shows the object, or the expectation expires.
 */
export interface Expectations {
  /** A creation will be requested. The name must be unique, so not `generateName`. */
  expectCreation(owner: string, name: string): void;
  /** A deletion will be requested. */
  expectDeletion(owner: string, uid: string): void;
  /** The cache shows the object, or is known to be newer than the response. Unexpected calls have no effect. */
  creationObserved(owner: string, name: string): void;
  /** The object is deleted or terminating. */
  deletionObserved(owner: string, uid: string): void;
  /** The server rejected the creation. */
  creationRejected(owner: string, name: string): void;
  deletionRejected(owner: string, uid: string): void;
  /** The unfulfilled expectations; undefined when the cache is up to date. */
  outstanding(owner: string): Outstanding | undefined;
  /** Whether all expectations are fulfilled. */
  satisfied(owner: string): boolean;
  /** The owner is deleted. */
  forget(owner: string): void;
  /** Number of expired expectations since the start: each is a lost write or a late cache. */
  expired(): number;
}

interface Entries {
  /** Name or uid → when it expires, on the monotonic clock. */
  readonly creations: Map<string, number>;
  readonly deletions: Map<string, number>;
}

/** Creates a tracker without expectations. */
export function createExpectations(options: ExpectationsOptions): Expectations {
  const { clock, timeoutMs = 5 * 60_000 } = options;
  // Invariants: no owner without an entry; expired entries are removed before they are returned.
  const owners = new Map<string, Entries>();
  let expired = 0;

  function expect(owner: string, kind: keyof Entries, id: string): void {
    const entries = owners.get(owner) ?? { creations: new Map<string, number>(), deletions: new Map<string, number>() };
    owners.set(owner, entries);
    entries[kind].set(id, clock.monotonicMs() + timeoutMs);
  }

  function fulfil(owner: string, kind: keyof Entries, id: string): void {
    const entries = owners.get(owner);
    if (entries === undefined) return;
    entries[kind].delete(id);
    dropEmpty(owner, entries);
  }

  function dropEmpty(owner: string, { creations, deletions }: Entries): void {
    if (creations.size === 0 && deletions.size === 0) owners.delete(owner);
  }

  function expire(owner: string, entries: Entries, nowMs: number): void {
    for (const due of [entries.creations, entries.deletions]) {
      for (const [id, dueMs] of due) {
        if (dueMs > nowMs) continue;
        due.delete(id);
        expired++;
      }
    }
    dropEmpty(owner, entries);
  }

  function outstanding(owner: string): Outstanding | undefined {
    const entries = owners.get(owner);
    if (entries === undefined) return undefined;
    const nowMs = clock.monotonicMs();
    expire(owner, entries, nowMs);
    const { creations, deletions } = entries;
    if (creations.size === 0 && deletions.size === 0) return undefined;
    const firstDueMs = Math.min(...creations.values(), ...deletions.values());
    return {
      creations: [...creations.keys()].toSorted(),
      deletions: [...deletions.keys()].toSorted(),
      expiresInMs: firstDueMs - nowMs,
    };
  }

  return {
    expectCreation: (owner, name) => expect(owner, "creations", name),
    expectDeletion: (owner, uid) => expect(owner, "deletions", uid),
    creationObserved: (owner, name) => fulfil(owner, "creations", name),
    deletionObserved: (owner, uid) => fulfil(owner, "deletions", uid),
    creationRejected: (owner, name) => fulfil(owner, "creations", name),
    deletionRejected: (owner, uid) => fulfil(owner, "deletions", uid),
    outstanding,
    satisfied: (owner) => outstanding(owner) === undefined,
    forget: (owner) => void owners.delete(owner),
    expired: () => expired,
  };
}

/** Options of {@link fulfilFromStore}. */
export interface FulfilOptions<T extends ApiObject> {
  readonly expectations: Expectations;
  readonly store: Pick<ReadonlyStore<T, string>, "subscribe">;
  /** The owner, by its key; undefined for objects that have none. */
  readonly ownerOf: (object: T) => string | undefined;
}

/**
 * Fulfils expectations from a store. Subscribe this before the triggers of the controller, so that a reconcile that is enqueued by an
 * event finds the expectation fulfilled.
 *
 * @returns ends it
 */
export function fulfilFromStore<T extends ApiObject>(options: FulfilOptions<T>): () => void {
  const { expectations, ownerOf } = options;
  return options.store.subscribe((old, current) => {
    const object = current ?? old;
    const owner = object === undefined ? undefined : ownerOf(object);
    if (object === undefined || owner === undefined) return;
    const { name, uid } = object.metadata;
    if (name !== undefined) expectations.creationObserved(owner, name);
    if ((current === undefined || isBeingDeleted(object)) && uid !== undefined)
      expectations.deletionObserved(owner, uid);
  });
}
