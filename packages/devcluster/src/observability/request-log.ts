import type { RequestAttributes } from "../request/request-attributes.ts";
import { createRecentPool } from "../storage/recent-pool.ts";

/** One request that was answered (or lost), as in an audit log. */
export interface RequestRecord extends Omit<RequestAttributes, "headers"> {
  /** The time of its arrival. */
  readonly time: Date;
  /** The user, if requests are authenticated; otherwise empty. */
  readonly user: string;
  /** The HTTP code; 0 when the connection ended before a response. */
  readonly status: number;
  readonly durationMs: number;
}

/** The number of requests of one verb, resource and code. */
export interface RequestCount extends Pick<
  RequestAttributes,
  "verb" | "group" | "version" | "resource" | "subresource"
> {
  readonly code: number;
  readonly count: number;
  readonly durationMs: number;
}

/** The latest requests, and counts of all. */
export interface RequestLog {
  add(request: RequestAttributes, outcome: Pick<RequestRecord, "time" | "status" | "durationMs" | "user">): void;
  /** Oldest first; never more than the limit. */
  latest(): readonly RequestRecord[];
  counts(): readonly RequestCount[];
  /** Registers a running watch. Returns the function that ends the registration. */
  watchStarted(request: RequestAttributes): () => void;
  /** Running watches by `group/resource`. */
  watches(): ReadonlyMap<string, number>;
}

/** A stored record: a number takes a sixth of the memory of a Date. */
interface KeptRecord extends Omit<RequestRecord, "time"> {
  readonly timeMs: number;
}

/** User agents, users and resources are few; each string is stored once. */
const textLimit = 256;

/** Creates a log that keeps the latest `limit` requests. */
export function createRequestLog(limit: number): RequestLog {
  const ring: KeptRecord[] = [];
  const texts = createRecentPool<string>(textLimit);
  const once = (text: string): string => texts.get(text, () => text);
  let next = 0;
  const counts = new Map<string, { -readonly [Key in keyof RequestCount]: RequestCount[Key] }>();
  const watches = new Map<string, number>();

  return {
    add(
      { verb, group, version, resource, subresource, namespace, name, path, isList, userAgent },
      { time, ...outcome },
    ) {
      const record: KeptRecord = {
        timeMs: time.getTime(),
        verb: once(verb),
        group: once(group),
        version: once(version),
        resource: once(resource),
        subresource: once(subresource),
        namespace: once(namespace),
        name,
        path,
        isList,
        userAgent: once(userAgent),
        user: once(outcome.user),
        status: outcome.status,
        durationMs: outcome.durationMs,
      };
      if (ring.length < limit) ring.push(record);
      else if (limit > 0) ring[next] = record;
      next = limit === 0 ? 0 : (next + 1) % limit;
      const key = `${verb} ${group} ${version} ${resource} ${subresource} ${outcome.status}`;
      const count = counts.get(key);
      if (count === undefined) {
        const { status: code, durationMs } = outcome;
        counts.set(key, { verb, group, version, resource, subresource, code, count: 1, durationMs });
      } else {
        count.count += 1;
        count.durationMs += outcome.durationMs;
      }
    },
    latest: () => (ring.length < limit ? ring : [...ring.slice(next), ...ring.slice(0, next)]).map(shown),
    counts: () => [...counts.values()],
    watchStarted({ group, resource }) {
      const key = `${group}/${resource}`;
      watches.set(key, (watches.get(key) ?? 0) + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        watches.set(key, (watches.get(key) ?? 1) - 1);
      };
    },
    watches: () => watches,
  };
}

function shown({ timeMs, ...record }: KeptRecord): RequestRecord {
  return { time: new Date(timeMs), ...record };
}
