import { compareResourceVersions } from "../objects/resource-version.ts";

/** Remembers what was deleted, so that news that were on their way do not bring it back. */
export interface Tombstones {
  add(key: string, uid: string | undefined, resourceVersion: string | undefined): void;
  /** Whether this state of an object is from before its deletion. */
  covers(key: string, uid: string | undefined, resourceVersion: string | undefined): boolean;
  clear(): void;
}

/** Late events come within seconds; this many deletions take far longer than that. */
const defaultCapacity = 10_000;

/** Makes an empty memory that forgets the oldest entries beyond `capacity`. */
export function createTombstones(capacity = defaultCapacity): Tombstones {
  // Invariant: at most `capacity` entries, in the order of their deletion.
  const stones = new Map<string, { readonly uid: string | undefined; readonly resourceVersion: string | undefined }>();

  return {
    add(key, uid, resourceVersion) {
      const id = idOf(key, uid);
      stones.delete(id);
      stones.set(id, { uid, resourceVersion });
      if (stones.size <= capacity) return;
      const oldest = stones.keys().next();
      if (oldest.done !== true) stones.delete(oldest.value);
    },
    covers(key, uid, resourceVersion) {
      const stone = stones.get(idOf(key, uid));
      if (stone === undefined) return false;
      // A uid never comes back. Without one, only the version can tell an old state from a new object of that name.
      if (stone.uid !== undefined) return true;
      const order = compareResourceVersions(resourceVersion, stone.resourceVersion);
      return order !== undefined && order <= 0;
    },
    clear: () => stones.clear(),
  };
}

function idOf(key: string, uid: string | undefined): string {
  return uid === undefined ? `key:${key}` : `uid:${uid}`;
}
