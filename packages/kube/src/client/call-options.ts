import type { Query } from "./resource-path.ts";
import type { HttpMethod } from "./request-observer.ts";

/** What every call accepts. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Deadline of the whole call, repetitions included, milliseconds. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number | undefined;
  /** Called right before each attempt is sent, after all waits; what it throws ends the call, and nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

/** What every write accepts. */
export interface WriteOptions extends CallOptions {
  /** Who writes, in `metadata.managedFields`. Default: `fieldManager` of the client. */
  readonly fieldManager?: string | undefined;
  /** Nothing is stored; the answer is what would have been. Default false. */
  readonly dryRun?: boolean | undefined;
  /** For example `status` or `scale`, and `eviction` or `binding` for `create`. */
  readonly subresource?: string | undefined;
}

/** What every read accepts. */
export interface ReadOptions {
  /**
   * Asks for `apiVersion`, `kind` and `metadata` alone (PartialObjectMetadata of meta.k8s.io/v1): all that is worth reading of a large object of
   * which only its existence counts. Default false.
   */
  readonly metadataOnly?: boolean | undefined;
}

/** What to list or watch. */
export interface Scope {
  /** Left out: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Options of {@link ApiClient.list}. */
export interface ListOptions extends Scope, ReadOptions {
  /** Most items in one answer; the next page is asked for with `continue` of the metadata. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  /** Left out: the most recent state. "0": whatever the server has cached. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
  /**
   * Leaves `metadata.managedFields` out of what is handed over, before it is parsed: they are half of the bytes of most objects. Default
   * false.
   */
  readonly omitManagedFields?: boolean | undefined;
}

/** Options of {@link ApiClient.watch}. */
export interface WatchOptions extends Scope, ReadOptions {
  /** Where to continue: the version of a list, of an event, or of a bookmark. "": from now, with `sendInitialEvents`. */
  readonly resourceVersion: string;
  /**
   * First sends everything that there is, then a bookmark with the annotation `k8s.io/initial-events-end` (KEP-3157). Needs
   * `resourceVersionMatch` and bookmarks. Default false.
   */
  readonly sendInitialEvents?: boolean | undefined;
  /** Only together with `sendInitialEvents`. */
  readonly resourceVersionMatch?: "NotOlderThan" | undefined;
  /** Default true. */
  readonly allowBookmarks?: boolean | undefined;
  /** When the server is to end the watch. Default: at random 4 to 10 s before `inactivityMs`, or 5 to 10 minutes with `sendInitialEvents`. */
  readonly timeoutSeconds?: number | undefined;
  /** The watch fails after this silence, milliseconds. Default 50 s. */
  readonly inactivityMs?: number | undefined;
  /** Called once when the server has begun to answer, which in a quiet watch is long before the first event. */
  readonly onAnswer?: (() => void) | undefined;
  /** As in {@link ListOptions}. */
  readonly omitManagedFields?: boolean | undefined;
}

/** Options of {@link ApiClient.delete}. */
export interface DeleteOptions extends CallOptions {
  /** What happens to objects that this one owns. Default: as the server does for the type, mostly `Background`. */
  readonly propagation?: "Foreground" | "Background" | "Orphan" | undefined;
  /** Only the object with this uid; another one of the same name gives a conflict. */
  readonly uid?: string | undefined;
  /** Only in this version. */
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A request that the typed methods do not cover: discovery, `/version`, `/readyz`, foreign subresources. */
export interface RawRequest extends CallOptions {
  readonly method: HttpMethod;
  /** From the root of the API, escaped by the caller. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** The answer to a {@link RawRequest}. */
export interface RawResponse {
  readonly status: number;
  /** Parsed if the content type is JSON, text otherwise. */
  readonly body: unknown;
  /** When the server answered, by its own clock: the header `Date`, to the second. Absent where it sends none. */
  readonly date?: string | undefined;
}
