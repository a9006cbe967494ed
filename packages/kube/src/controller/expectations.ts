import type { Clock } from "@millwright/base";
import type { ReadonlyStore } from "../cache/store.ts";
import { isBeingDeleted } from "../objects/finalizers.ts";
import type { ApiObject } from "../objects/kube-object.ts";

/** Options of {@link createExpectations}. */
export interface ExpectationsOptions {
  readonly clock: Clock;
  /** After so long an expectation is overdue, milliseconds. Default 5 min, as in client-go. */
  readonly timeoutMs?: number | undefined;
  /** Called with the uid of an object whose deletion the server rejected. */
  readonly onDeletionRejected?: (uid: string) => void;
}

/** The unfulfilled expectations of an owner. */
export interface Outstanding {
  /** Names of objects whose creation was requested and is not visible in the cache yet. They may or may not exist. */
  readonly creations: readonly string[];
  /** Uids of objects whose deletion was requested, and that are not terminating in the cache yet. */
  readonly deletions: readonly string[];
  /** When the first of them is overdue, milliseconds from now, not negative: requeue then at the latest. */
  readonly overdueInMs: number;
}

/** Expectations that were not fulfilled in time: a lost write, or a cache that is too late. */
export interface Overdue {
  /** Names. */
  readonly creations: readonly string[];
  /** Uids. */
  readonly deletions: readonly string[];
}

/**
 * The creations and deletions of each owner (a key) that its cache does not show yet, so that a reconcile does not repeat them:
 * client-go's `UIDTrackingControllerExpectations`, also for creations, which are tracked by name because an object has no uid before
 * it exists. Kept in memory only: a new process starts with a new list.
 *
 * The safe order: expect, then send the request; when the server rejected it, remove the expectation
 * ({@link Expectations.creationRejected}); when the request may have succeeded (`mayHaveSucceeded`: no response, a server error, an abort), keep it. Either the cache
 * shows the object, or the expectation is overdue: then the owner reads the object from the API server and reports what it finds. It never expires by itself, since a watch may be
 * broken for longer than any timeout.
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
  /** Those of them that the owner has to find out about. */
  overdue(owner: string): Overdue;
  /** Whether all expectations are fulfilled. */
  satisfied(owner: string): boolean;
  /** The owner is deleted. */
  forget(owner: string): void;
}

interface Entries {
  /** Name or uid → when it is overdue, on the monotonic clock. */
  readonly creations: Map<string, number>;
  readonly deletions: Map<string, number>;
}

/** Creates a tracker without expectations. */
export function createExpectations(options: ExpectationsOptions): Expectations {
  const { clock, timeoutMs = 5 * 60_000, onDeletionRejected } = options;
  // Invariant: no owner without an entry.
  const owners = new Map<string, Entries>();

  function expect(owner: string, kind: keyof Entries, id: string): void {
    const entries = owners.get(owner) ?? { creations: new Map<string, number>(), deletions: new Map<string, number>() };
    owners.set(owner, entries);
    entries[kind].set(id, clock.monotonicMs() + timeoutMs);
  }

  function fulfill(owner: string, kind: keyof Entries, id: string): void {
    const entries = owners.get(owner);
    if (entries === undefined) return;
    entries[kind].delete(id);
    if (entries.creations.size === 0 && entries.deletions.size === 0) owners.delete(owner);
  }

  function outstanding(owner: string): Outstanding | undefined {
    const entries = owners.get(owner);
    if (entries === undefined) return undefined;
    const { creations, deletions } = entries;
    const firstDueMs = Math.min(...creations.values(), ...deletions.values());
    return {
      creations: [...creations.keys()].toSorted(),
      deletions: [...deletions.keys()].toSorted(),
      overdueInMs: Math.max(0, firstDueMs - clock.monotonicMs()),
    };
  }

  function overdue(owner: string): Overdue {
    const nowMs = clock.monotonicMs();
    const due = (entries: ReadonlyMap<string, number> = new Map()): readonly string[] =>
      Array.from(entries)
        .filter(([, dueMs]) => dueMs <= nowMs)
        .map(([id]) => id);
    const { creations, deletions } = owners.get(owner) ?? {};
    return { creations: due(creations), deletions: due(deletions) };
  }

  return {
    expectCreation: (owner, name) => expect(owner, "creations", name),
    expectDeletion: (owner, uid) => expect(owner, "deletions", uid),
    creationObserved: (owner, name) => fulfill(owner, "creations", name),
    deletionObserved: (owner, uid) => fulfill(owner, "deletions", uid),
    creationRejected: (owner, name) => fulfill(owner, "creations", name),
    deletionRejected(owner, uid) {
      fulfill(owner, "deletions", uid);
      onDeletionRejected?.(uid);
    },
    outstanding,
    overdue,
    satisfied: (owner) => !owners.has(owner),
    forget: (owner) => void owners.delete(owner),
  };
}

/** Options of {@link fulfillFromStore}. */
export interface FulfillOptions<T extends ApiObject> {
  readonly expectations: Expectations;
  readonly store: Pick<ReadonlyStore<T, string>, "subscribe">;
  /** The owner, by its key; undefined for objects that have none. */
  readonly ownerOf: (object: T) => string | undefined;
}

/**
 * Fulfills expectations from a store. Subscribe this before the triggers of the controller, so that a reconcile that is enqueued by an
 * event finds the expectation fulfilled.
 *
 * @returns ends it
 */
export function fulfillFromStore<T extends ApiObject>(options: FulfillOptions<T>): () => void {
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
