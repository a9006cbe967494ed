import * as z from "zod";
import { expectedKinds, kindWith } from "../request/read-body.ts";

const texts = z.array(z.string()).readonly();
const ms = z.number().min(0).max(3_600_000);
const code = z.int().min(400).max(599);

const faultMatch = z
  .strictObject({
    /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
    verbs: texts.exactOptional(),
    /** Plurals, with a subresource if one is meant: `nodes`, `pods/eviction`. */
    resources: texts.exactOptional(),
    namespaces: texts.exactOptional(),
    names: texts.exactOptional(),
    /** A part of the User-Agent header. */
    userAgent: z.string().exactOptional(),
    /** Headers by name with their exact values, to distinguish components with the same User-Agent. */
    headers: z.record(z.string(), z.string()).readonly().exactOptional(),
  })
  .readonly();

/** The requests that a fault affects: those that match all the fields that are given. */
export type FaultMatch = z.infer<typeof faultMatch>;

const onRequests = [
  /** The request waits this long before it is served. */
  kindWith("latency", { ms }),
  /** The request fails with a Status: 409, 410, 429, 500, 503 and so on. */
  kindWith("status", {
    code,
    reason: z.string().exactOptional(),
    message: z.string().exactOptional(),
    /** Adds a Retry-After header. Default: 1 for 429, none for others. */
    retryAfterSeconds: z.int().min(0).max(86_400).exactOptional(),
  }),
  /** The connection is reset: `before` the request is served, or `after` it, instead of the response. */
  kindWith("reset", { when: z.enum(["before", "after"]).default("before") }),
  /** Every connection is reset at once, including running watches, while the fault is present. */
  kindWith("partition", {}),
  /** A list, or the initial events of a watch, has no objects, with the version of the server: a member that lags, a proxy that answers for it. */
  kindWith("empty-list", {}),
  /** A list, or the initial events of a watch, is of the state so many versions ago, which follow in the watch: a member that lags. */
  kindWith("stale-list", { versions: z.int().min(1).max(1_000_000) }),
] as const;

const onLines = [
  /** The line is left out. */
  kindWith("drop", {}),
  /** The line is sent twice. */
  kindWith("duplicate", {}),
  /** The first half of the line is sent, then the stream ends. */
  kindWith("truncate", {}),
  /** The line and all lines after it wait this long. */
  kindWith("slow", { ms }),
  /** The line arrives in this many pieces, 5 ms apart, split anywhere. */
  kindWith("pieces", { count: z.int().min(2).max(10_000).default(2) }),
  /** An ERROR event with this code replaces the line, and the watch ends. */
  kindWith("watch-error", { code: code.default(410) }),
] as const;

/** Half-open: nothing more is sent, and the connection is not closed. Running watches are silent from their next line on. */
const silence = kindWith("silence", {});

const effects = [...onRequests, ...onLines, silence] as const;

/** The effect of a fault on a request, once per request. */
export type RequestEffect = Readonly<z.infer<(typeof onRequests)[number] | typeof silence>>;

/** The effect of a fault on a line of a watch, once per line. */
export type LineEffect = Readonly<z.infer<(typeof onLines)[number] | typeof silence>>;

/** The effect of a fault on a whole request or on a line of a watch. */
export type FaultEffect = RequestEffect | LineEffect;

/** The body of a request that adds a {@link Fault}. */
export const faultBody = z.strictObject({
  match: faultMatch.exactOptional(),
  effect: z.discriminatedUnion("kind", effects, expectedKinds(effects)).readonly(),
  /** How many requests or lines it affects. Default: no limit. */
  times: z.int().min(1).max(1_000_000_000).exactOptional(),
  /** From 0 to 1, per request or line. Default 1. */
  probability: z.number().min(0).max(1).exactOptional(),
});

/** A fault of API requests. */
export type Fault = Readonly<z.infer<typeof faultBody>>;

const lineKinds: ReadonlySet<string> = new Set(onLines.map(({ shape }) => shape.kind.value));

/** Whether an effect is one on lines of watches. */
export function isLineEffect(effect: FaultEffect): effect is LineEffect {
  return effect.kind === "silence" || lineKinds.has(effect.kind);
}

/** Whether an effect is one on requests. */
export function isRequestEffect(effect: FaultEffect): effect is RequestEffect {
  return !lineKinds.has(effect.kind);
}
