/** Which requests a fault strikes. Everything that is left out matches; what is given must all match. */
export interface FaultMatch {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verbs?: readonly string[];
  /** Plurals, with the subresource where one is meant: `nodes`, `pods/eviction`. */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  /** A part of the User-Agent header. */
  readonly userAgent?: string;
  /** Headers by name (lower case) with their exact values: a way to tell components apart that share a User-Agent. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What goes wrong with a request; strikes once per request. */
export type RequestEffect =
  /** The request waits this long before it is served. */
  | { readonly kind: "latency"; readonly ms: number }
  /** The request is refused with a Status: 409, 410, 429, 500, 503 and so on. */
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      /** Adds a Retry-After header. Default: 1 for 429, none for others. */
      readonly retryAfterSeconds?: number;
    }
  /** The connection is reset: `before` the request was served, or `after` it, in place of the answer. */
  | { readonly kind: "reset"; readonly when: "before" | "after" }
  /** Every connection is reset at once, running watches included, for as long as the fault is there. */
  | { readonly kind: "partition" }
  | Silence;

/** What goes wrong with a line of a watch; strikes once per line. */
export type LineEffect =
  /** The line is left out. */
  | { readonly kind: "drop" }
  /** The line is sent twice. */
  | { readonly kind: "duplicate" }
  /** The first half of the line is sent, then the stream ends. */
  | { readonly kind: "truncate" }
  /** The line waits this long, and all that follow it as well. */
  | { readonly kind: "slow"; readonly ms: number }
  /** The line arrives in this many pieces, 5 ms apart, cut anywhere. */
  | { readonly kind: "pieces"; readonly count: number }
  /** In place of the line an ERROR event with this code arrives, and the watch ends. */
  | { readonly kind: "watch-error"; readonly code: number }
  | Silence;

/** Half-open: nothing is sent any more, and the connection is not closed. Running watches fall silent with their next line. */
export interface Silence {
  readonly kind: "silence";
}

/** What a fault does: to a whole request, or to a line of a watch. */
export type FaultEffect = RequestEffect | LineEffect;

/** A fault on demand. */
export interface Fault {
  readonly match?: FaultMatch;
  readonly effect: FaultEffect;
  /** How often it strikes before it is used up. Default: without end. */
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

/** Whether an effect belongs to the lines of watches. */
export function isLineEffect(effect: FaultEffect): effect is LineEffect {
  return lineKinds.has(effect.kind);
}

/** Whether an effect belongs to requests. */
export function isRequestEffect(effect: FaultEffect): effect is RequestEffect {
  return effect.kind === "silence" || !lineKinds.has(effect.kind);
}
