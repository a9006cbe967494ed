/** Requests by client (`userAgent`), verb and resource, since the start of a server. */
export interface RequestCount {
  readonly agent: string;
  /** As in an audit log: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string;
  /** `machines`, or `machines/status`. */
  readonly resource: string;
  readonly count: number;
}

/** Counts requests as they are read. */
export interface RequestCounter {
  add(request: Pick<RequestCount, "agent" | "verb" | "resource">): void;
  counts(): readonly RequestCount[];
}

const keyOf = ({ agent, verb, resource }: Pick<RequestCount, "agent" | "verb" | "resource">): string =>
  [agent, verb, resource].join("\n");

/** Creates a counter. Of a user agent only the first word is kept, without its version. */
export function createRequestCounter(): RequestCounter {
  const found = new Map<string, { agent: string; verb: string; resource: string; count: number }>();
  return {
    add({ agent, verb, resource }) {
      const row = { agent: agent.split(/[/ ]/)[0] ?? "", verb, resource, count: 1 };
      const key = keyOf(row);
      const known = found.get(key);
      if (known === undefined) found.set(key, row);
      else known.count += 1;
    },
    counts: () => [...found.values()].map((row) => ({ ...row })),
  };
}

/** Requests between two readings, most frequent first. */
export function requestsBetween(
  before: readonly RequestCount[],
  after: readonly RequestCount[],
): readonly RequestCount[] {
  const earlier = new Map(before.map((row) => [keyOf(row), row.count]));
  return after
    .map((row) => ({ ...row, count: row.count - (earlier.get(keyOf(row)) ?? 0) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count || (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The number of requests. */
export const totalOf = (counts: readonly Pick<RequestCount, "count">[]): number =>
  counts.reduce((sum, { count }) => sum + count, 0);
