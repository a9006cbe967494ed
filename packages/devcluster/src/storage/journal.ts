import type { StoredObject } from "../objects/stored-object.ts";

/** One change as it is recorded: `object` is missing for a removal. */
export interface JournalRecord {
  readonly resourceVersion: number;
  /** `plural.group`, as in `leases.coordination.k8s.io` or `pods.`. */
  readonly collection: string;
  /** `namespace/name`; the namespace is empty for cluster-scoped objects. */
  readonly key: string;
  readonly object?: StoredObject;
}

/** What the journal holds. */
export interface JournalContent {
  /** The highest version; complete only once the records have been read, which may be as they come from the disk. */
  readonly resourceVersion: number;
  /** Oldest first. To be read once, to their end. Throws ConfigError where the journal is damaged; it is closed then. */
  readonly records: Iterable<JournalRecord>;
}

/**
 * Where changes are kept. `append` returns only when the change would outlive the process, and is called before any
 * client hears of it. The in-memory server has none.
 */
export interface Journal {
  load(): JournalContent;
  append(record: JournalRecord): void;
  /** Offers the journal a moment to rewrite itself out of what is live. */
  compact(live: () => JournalContent): void;
  /** Forgets everything. */
  clear(): void;
  close(): void;
}
