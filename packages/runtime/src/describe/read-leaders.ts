import { leaseNames } from "@millwright/core/machine-api";
import {
  type ApiClient,
  ignoreNotFound,
  isApiError,
  leaseResource,
  type LeaseRecord,
  namespaceResource,
  readLease,
} from "@millwright/kube";
import type { Leaders } from "../explain/cluster-objects.ts";

/** A lease that its holder renews every few seconds is believed so much longer than it lasts, milliseconds: clocks differ. */
const TOLERANCE_MS = 10_000;

/** How many other namespaces are named. */
const MAX_NAMESPACES = 5;

/** Lists and reads of a control cluster. */
type ReadableApi = Pick<ApiClient, "get" | "list">;

/** What a Lease shows about its controllers. */
function stateOf(record: LeaseRecord | undefined, nowMs: number): "leads" | "expired" | "released" | "none" {
  if (record === undefined) return "none";
  if (record.holder === "") return "released";
  const untilMs = Date.parse(record.renewTime) + (record.durationMs ?? 0) + TOLERANCE_MS;
  return Number.isNaN(untilMs) || nowMs > untilMs ? "expired" : "leads";
}

/** A sentence about one Lease. */
function sentenceOf(lease: string, record: LeaseRecord | undefined, nowMs: number): string {
  switch (stateOf(record, nowMs)) {
    case "leads":
      return `${record?.holder ?? ""} holds Lease ${lease} since ${record?.acquireTime ?? ""}.`;
    case "expired":
      return `Lease ${lease} has expired: ${record?.holder ?? ""} renewed it last at ${record?.renewTime ?? ""}.`;
    case "released":
      return `Lease ${lease} was given back, and no process has taken it.`;
    case "none":
      return `Lease ${lease} does not exist.`;
  }
}

/** The answer in place of one that the API server refuses. */
const ignored =
  <T>(signal: AbortSignal | undefined, instead: T) =>
  (error: unknown): T => {
    signal?.throwIfAborted();
    if (!isApiError(error)) throw error;
    return instead;
  };

/** Other namespaces whose Leases are held; none where they may not be listed. */
async function leadersElsewhere(
  api: ReadableApi,
  namespace: string,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const found = new Set<string>();
  for (const lease of leaseNames) {
    const selected = { fieldSelector: `metadata.name=${lease}` };
    const { items } = await api.list(leaseResource, selected, { signal }).catch(ignored(signal, { items: [] }));
    for (const item of items) if (stateOf(readLease(item), nowMs) === "leads") found.add(item.metadata.namespace ?? "");
  }
  found.delete(namespace);
  const names = [...found].toSorted().slice(0, MAX_NAMESPACES);
  return names.length === 0 ? "" : ` Controllers lead namespace ${names.join(", ")}.`;
}

/** Since when a namespace is being deleted, RFC 3339; `undefined` where it is not, or may not be read. */
export async function readNamespaceDeletion(
  api: ReadableApi,
  namespace: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const read = api.get(namespaceResource, { name: namespace }, { signal });
  const found = await read.catch(ignored(signal, undefined));
  return found?.metadata.deletionTimestamp ?? undefined;
}

/**
 * Reads from the Leases whether controllers lead a namespace. A process without leader election has none.
 *
 * @returns `undefined` where Leases may not be read
 */
export async function readLeaders(
  api: ReadableApi,
  namespace: string,
  now: Date,
  signal?: AbortSignal,
): Promise<Leaders | undefined> {
  const records: (LeaseRecord | undefined)[] = [];
  for (const lease of leaseNames) {
    const read = ignoreNotFound(api.get(leaseResource, { namespace, name: lease }, { signal }));
    const found = await read.catch(ignored(signal, "unreadable" as const));
    if (found === "unreadable") return undefined;
    records.push(found === undefined ? undefined : readLease(found));
  }
  const nowMs = now.getTime();
  const states = records.map((record) => stateOf(record, nowMs));
  const leads = states.every((state) => state === "leads");
  return {
    leads: leads || (states.every((state) => state === "none") ? "unknown" : false),
    text: leaseNames.map((lease, at) => sentenceOf(lease, records[at], nowMs)).join(" "),
    elsewhere: leads ? "" : await leadersElsewhere(api, namespace, nowMs, signal),
  };
}
