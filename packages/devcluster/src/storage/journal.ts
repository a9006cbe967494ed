import type { StoredObject } from "../objects/stored-object.ts";

/** One recorded change; `object` is missing for a removal. */
export interface JournalRecord {
  readonly resourceVersion: number;
  /** `plural.group`, as in `leases.coordination.k8s.io` or `pods.`. */
  readonly collection: string;
  /** `namespace/name`; the namespace is empty for cluster-scoped objects. */
  readonly key: string;
  readonly object?: StoredObject;
}

/** The content of a journal. */
export interface JournalContent {
  /** The highest version; final only after all records were read, since they may be read lazily from disk. */
  readonly resourceVersion: number;
  /** Oldest first; read once, to the end. Throws ConfigError when the journal is damaged, and closes it. */
  readonly records: Iterable<JournalRecord>;
}

/**
 * The persistent record of changes. `append` returns when the change survives the process, and is called before any client sees
 * the change. An in-memory server has none.
 */
export interface Journal {
  load(): JournalContent;
  append(record: JournalRecord): void;
  /** Lets the journal rewrite itself from the live objects. */
  compact(live: () => JournalContent): void;
  /** Deletes everything. */
  clear(): void;
  close(): void;
}
