/** The requests that a fault affects: those that match all the fields that are given. */
export interface FaultMatch {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verbs?: readonly string[];
  /** Plurals, with a subresource if one is meant: `nodes`, `pods/eviction`. */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  /** A part of the User-Agent header. */
  readonly userAgent?: string;
  /** Headers by name (lower case) with their exact values, to distinguish components with the same User-Agent. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The effect of a fault on a request, once per request. */
export type RequestEffect =
  /** The request waits this long before it is served. */
  | { readonly kind: "latency"; readonly ms: number }
  /** The request fails with a Status: 409, 410, 429, 500, 503 and so on. */
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      /** Adds a Retry-After header. Default: 1 for 429, none for others. */
      readonly retryAfterSeconds?: number;
    }
  /** The connection is reset: `before` the request is served, or `after` it, instead of the response. */
  | { readonly kind: "reset"; readonly when: "before" | "after" }
  /** Every connection is reset at once, including running watches, while the fault is present. */
  | { readonly kind: "partition" }
  /** A list, or the initial events of a watch, has no objects, with the version of the server: a member that lags, a proxy that answers for it. */
  | { readonly kind: "empty-list" }
  /** A list, or the initial events of a watch, is of the state so many versions ago, which follow in the watch: a member that lags. */
  | { readonly kind: "stale-list"; readonly versions: number }
  | Silence;

/** The effect of a fault on a line of a watch, once per line. */
export type LineEffect =
  /** The line is left out. */
  | { readonly kind: "drop" }
  /** The line is sent twice. */
  | { readonly kind: "duplicate" }
  /** The first half of the line is sent, then the stream ends. */
  | { readonly kind: "truncate" }
  /** The line and all lines after it wait this long. */
  | { readonly kind: "slow"; readonly ms: number }
  /** The line arrives in this many pieces, 5 ms apart, split anywhere. */
  | { readonly kind: "pieces"; readonly count: number }
  /** An ERROR event with this code replaces the line, and the watch ends. */
  | { readonly kind: "watch-error"; readonly code: number }
  | Silence;

/**
 * Half-open: nothing more is sent, and the connection is not closed. Running watches are silent from their next line on.
 */
export interface Silence {
  readonly kind: "silence";
}

/** The effect of a fault on a whole request or on a line of a watch. */
export type FaultEffect = RequestEffect | LineEffect;

/** A fault of API requests. */
export interface Fault {
  readonly match?: FaultMatch;
  readonly effect: FaultEffect;
  /** How many requests or lines it affects. Default: no limit. */
  readonly times?: number;
  /** From 0 to 1, per request or line. Default 1. */
  readonly probability?: number;
}

const lineKinds: ReadonlySet<FaultEffect["kind"]> = new Set<LineEffect["kind"]>([
  "drop",
  "duplicate",
  "truncate",
  "slow",
  "pieces",
  "watch-error",
  "silence",
]);

/** Whether an effect is one on lines of watches. */
export function isLineEffect(effect: FaultEffect): effect is LineEffect {
  return lineKinds.has(effect.kind);
}

/** Whether an effect is one on requests. */
export function isRequestEffect(effect: FaultEffect): effect is RequestEffect {
  return effect.kind === "silence" || !lineKinds.has(effect.kind);
}
