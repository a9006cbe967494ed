import { compareResourceVersions, isNewer } from "../objects/resource-version.ts";

/** A deletion that a store has seen. */
export interface Deletion {
  readonly uid: string | undefined;
  /** Up to which the object is known to be deleted. Undefined when only the deletion itself is known, as from the answer to an own delete. */
  readonly resourceVersion: string | undefined;
  /** Whether a DELETED event showed it, and not the absence from a list. */
  readonly isObserved: boolean;
}

/** An object that was deleted. */
export interface DeletedObject {
  readonly key: string;
  readonly uid: string | undefined;
}

/** Remembers what was deleted, so that events that arrive late do not bring it back. */
export interface Tombstones {
  add(key: string, deletion: Deletion): void;
  /** Whether this state of an object is from before its deletion. */
  covers(key: string, uid: string | undefined, resourceVersion: string | undefined): boolean;
  /**
   * The deletion of an object that a list contains. A list that began after the deletion, and is not older, shows that the object exists.
   *
   * @param begunAt {@link Tombstones.now} when the list began
   */
  contradictedBy(list: {
    readonly key: string;
    readonly uid: string | undefined;
    readonly resourceVersion: string | undefined;
    readonly begunAt: number;
  }): Deletion | undefined;
  /** Deletions after a version, the latest first. */
  since(resourceVersion: string | undefined): readonly DeletedObject[];
  remove(key: string, uid: string | undefined): void;
  /** Number of deletions so far. */
  now(): number;
  clear(): void;
}

/** Late events come within seconds; this many deletions take far longer than that. */
const defaultCapacity = 10_000;

/** Makes an empty memory that forgets the oldest entries beyond `capacity`. */
export function createTombstones(capacity = defaultCapacity): Tombstones {
  // Invariant: at most `capacity` entries, in the order of their deletion.
  const stones = new Map<string, Deletion & { readonly key: string; readonly at: number }>();
  let count = 0;

  return {
    add(key, deletion) {
      const id = idOf(key, deletion.uid);
      const former = stones.get(id);
      // The answer to an own delete may come after its event.
      const known = former?.isObserved === true ? former.resourceVersion : undefined;
      stones.delete(id);
      count += 1;
      stones.set(id, { ...deletion, resourceVersion: deletion.resourceVersion ?? known, key, at: count });
      if (stones.size <= capacity) return;
      const oldest = stones.keys().next();
      if (oldest.done !== true) stones.delete(oldest.value);
    },
    covers(key, uid, resourceVersion) {
      const stone = stones.get(idOf(key, uid));
      if (stone === undefined) return false;
      // The version of an own deletion is not known, and its uid does not come back by an event.
      if (stone.resourceVersion === undefined) return stone.uid !== undefined;
      const order = compareResourceVersions(resourceVersion, stone.resourceVersion);
      return order === undefined ? stone.uid !== undefined : order <= 0;
    },
    contradictedBy({ key, uid, resourceVersion, begunAt }) {
      const stone = stones.get(idOf(key, uid));
      if (stone === undefined || stone.uid === undefined || stone.at > begunAt) return undefined;
      return isNewer(stone.resourceVersion, resourceVersion) ? undefined : stone;
    },
    since(resourceVersion) {
      const latest = Array.from(stones.values()).toReversed();
      const end = latest.findIndex(
        (stone) => stone.resourceVersion !== undefined && !isNewer(stone.resourceVersion, resourceVersion),
      );
      return end < 0 ? latest : latest.slice(0, end);
    },
    remove: (key, uid) => void stones.delete(idOf(key, uid)),
    now: () => count,
    clear: () => stones.clear(),
  };
}

function idOf(key: string, uid: string | undefined): string {
  return uid === undefined ? `key:${key}` : `uid:${uid}`;
}
