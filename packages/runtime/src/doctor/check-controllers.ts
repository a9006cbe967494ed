import {
  type CheckOutcome,
  type Clock,
  leaseNames,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core";
import {
  type ApiClient,
  ignoreNotFound,
  isApiError,
  leaseResource,
  type LeaseRecord,
  readLease,
} from "@millwright/kube";

const name = "Controllers";

/** Lists and reads of a control cluster. */
type ReadableApi = Pick<ApiClient, "get" | "list">;

/** A lease that its holder renews every few seconds is believed so much longer than it lasts, milliseconds: clocks differ. */
const TOLERANCE_MS = 10_000;

/** An object that no controller has seen for so long shows that none runs, milliseconds. */
const UNSEEN_MS = 60_000;

/** How many other namespaces are named. */
const MAX_NAMESPACES = 5;

const start = 'See whether their pod runs, and in which namespace they lead: "kubectl get pods,leases -A".';

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
  <T>(signal: AbortSignal, instead: T) =>
  (error: unknown): T => {
    signal.throwIfAborted();
    if (!isApiError(error)) throw error;
    return instead;
  };

/** Other namespaces whose Leases are held; none where they may not be listed. */
async function leadersElsewhere(
  api: ReadableApi,
  namespace: string,
  nowMs: number,
  signal: AbortSignal,
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

/** Whether objects exist, and no controller has seen some of them, by the generation in their status. */
async function unseen(
  api: ReadableApi,
  namespace: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<"no objects" | "all seen" | "new ones" | { readonly object: string }> {
  const lists = await Promise.all(
    [machineDeploymentResource, machineSetResource].map(async (type) => {
      const listed = api.list<MachineDeployment | MachineSet>(type, { namespace }, { signal });
      const { items } = await listed.catch(ignored(signal, { items: [] }));
      return items.map((item) => ({ type, item }));
    }),
  );
  const all = lists.flat();
  if (all.length === 0) return "no objects";
  const behind = all.filter(
    ({ item: { metadata, status } }) => (status?.observedGeneration ?? 0) < (metadata.generation ?? 0),
  );
  const [first] = behind;
  if (first === undefined) return "all seen";
  const isOld = ({ item: { metadata } }: (typeof all)[number]): boolean =>
    nowMs - Date.parse(metadata.creationTimestamp ?? "") > UNSEEN_MS;
  const old = behind.find(isOld);
  return old === undefined ? "new ones" : { object: `${old.type.kind} ${old.item.metadata.name}` };
}

/**
 * Checks that controllers lead the namespace: an installation whose process does not start, has no rights, or manages another namespace changes nothing, and no object shows it. A process without leader
 * election has no Lease; then the generations that were seen decide. Nothing where Leases may not be read, or neither they nor objects exist yet.
 *
 * @throws the reason of the signal when it aborts
 */
export async function checkControllers(
  api: ReadableApi,
  namespace: string,
  clock: Pick<Clock, "now">,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const records: (LeaseRecord | undefined)[] = [];
  for (const lease of leaseNames) {
    const read = ignoreNotFound(api.get(leaseResource, { namespace, name: lease }, { signal }));
    const found = await read.catch(ignored(signal, "unreadable" as const));
    if (found === "unreadable") return undefined;
    records.push(found === undefined ? undefined : readLease(found));
  }
  const nowMs = clock.now().getTime();
  const text = leaseNames.map((lease, at) => sentenceOf(lease, records[at], nowMs)).join(" ");
  const states = records.map((record) => stateOf(record, nowMs));
  if (states.every((state) => state === "leads")) return { name, status: "ok", message: text };
  const elsewhere = await leadersElsewhere(api, namespace, nowMs, signal);
  if (states.some((state) => state !== "none"))
    return { name, status: "failed", message: `${text}${elsewhere}`, remedy: start };
  const seen = await unseen(api, namespace, nowMs, signal);
  const message = `No controllers have led namespace ${namespace}`;
  if (seen === "no objects") return undefined;
  if (seen === "all seen")
    return { name, status: "ok", message: "Controllers without leader election have seen all objects." };
  if (seen === "new ones")
    return { name, status: "warning", message: `${message}, and some objects were not seen yet.${elsewhere}` };
  return {
    name,
    status: "failed",
    message: `${message}, and none has seen ${seen.object}.${elsewhere}`,
    remedy: start,
  };
}
