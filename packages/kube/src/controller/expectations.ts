import type { Clock } from "@millwright/base";
import type { ReadonlyStore } from "../cache/store.ts";
import { isBeingDeleted } from "../objects/finalizers.ts";
import type { ApiObject } from "../objects/kube-object.ts";

/** Options of {@link createExpectations}. */
export interface ExpectationsOptions {
  readonly clock: Clock;
  /** After this time, milliseconds, what was expected and did not come is given up. Default 5 min, as in client-go. */
  readonly timeoutMs?: number | undefined;
}

/** What an owner still waits to see in its cache. */
export interface Outstanding {
  /** Names of objects whose creation was asked for, and is not visible yet. May or may not have happened. */
  readonly creations: readonly string[];
  /** Uids of objects whose deletion was asked for, and that are still there without being on their way out. */
  readonly deletions: readonly string[];
  /** When the first of them is given up, milliseconds from now; at the latest then it is worth to look again. */
  readonly expiresInMs: number;
}

/**
 * What each owner (a key) has asked for and not yet seen in its cache, so that a pass does not ask for the same a second time:
 * client-go's `UIDTrackingControllerExpectations`, for creations as well, which go by name because an object has no uid before
 * it is there. Kept in memory only: a new process starts with a fresh list.
 *
 * The order that makes it safe: expect, then send the request; when the server refused it, take the expectation back
 * ({@link Expectations.creationRefused}); when the request may have been carried out all the same (`mayHaveHappened`: no answer, a server fault, an abort), leave it standing. Either the object is
 * seen in the cache, or the expectation expires.
 */
export interface Expectations {
  /** A creation is about to be asked for. The name must be one that no other object has, so not `generateName`. */
  expectCreation(owner: string, name: string): void;
  /** A deletion is about to be asked for. */
  expectDeletion(owner: string, uid: string): void;
  /** The object was seen, or the cache is known to be newer than the answer about it. Unexpected ones do no harm. */
  creationSeen(owner: string, name: string): void;
  /** The object is gone, or on its way out. */
  deletionSeen(owner: string, uid: string): void;
  /** The server refused it: nothing will come. */
  creationRefused(owner: string, name: string): void;
  deletionRefused(owner: string, uid: string): void;
  /** What is outstanding; undefined when the owner may count what its cache shows. */
  outstanding(owner: string): Outstanding | undefined;
  /** Whether nothing is outstanding. */
  satisfied(owner: string): boolean;
  /** The owner is gone. */
  forget(owner: string): void;
  /** How many expectations were given up since the start: each is a write that was lost, or a cache that is late. */
  expired(): number;
}

interface Entries {
  /** Name, or uid → when it is given up, on the monotonic clock. */
  readonly creations: Map<string, number>;
  readonly deletions: Map<string, number>;
}

/** Makes an empty memory. */
export function createExpectations(options: ExpectationsOptions): Expectations {
  const { clock, timeoutMs = 5 * 60_000 } = options;
  // Invariants: no owner without an entry; what has expired is removed before anybody is told of it.
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

  function giveUp(owner: string, entries: Entries, nowMs: number): void {
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
    giveUp(owner, entries, nowMs);
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
    creationSeen: (owner, name) => fulfil(owner, "creations", name),
    deletionSeen: (owner, uid) => fulfil(owner, "deletions", uid),
    creationRefused: (owner, name) => fulfil(owner, "creations", name),
    deletionRefused: (owner, uid) => fulfil(owner, "deletions", uid),
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
 * Fulfils expectations with what a store shows. Subscribe this before the triggers of the controller, so that a pass that an
 * event wakes finds the expectation fulfilled.
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
    if (name !== undefined) expectations.creationSeen(owner, name);
    if ((current === undefined || isBeingDeleted(object)) && uid !== undefined) expectations.deletionSeen(owner, uid);
  });
}
