import { eventReasons } from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, eventResource, isForbidden } from "@millwright/kube";
import { clockEventMs, clusterIn } from "./clock-skew-texts.ts";

interface EventObject extends ApiObject {
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly lastTimestamp?: unknown;
}

/** An event that is older is of a process that has ended, milliseconds. */
const RECENT_MS = 1.5 * clockEventMs;

/**
 * The clocks that differ, one sentence each, from the controllers' recent events on the namespace: the clock of their host cannot be read from here. None when events may not be
 * listed.
 */
export async function clockSkews(
  {
    control,
    namespace,
    signal,
  }: { readonly control: Pick<ApiClient, "list">; readonly namespace: string; readonly signal?: AbortSignal },
  now: Date,
): Promise<readonly string[]> {
  const fieldSelector = "involvedObject.kind=Namespace";
  const options = { namespace, fieldSelector, ...(signal === undefined ? {} : { signal }) };
  const items = await control.list<EventObject>(eventResource, options).then(
    (list) => list.items,
    (error: unknown) => {
      if (isForbidden(error)) return [];
      throw error;
    },
  );
  /** The last event about each cluster. */
  const last = new Map<string, { readonly atMs: number; readonly isSkew: boolean; readonly message: string }>();
  for (const { reason, message, lastTimestamp } of items) {
    if (reason !== eventReasons.clockSkew && reason !== eventReasons.clockSkewEnded) continue;
    if (typeof message !== "string" || typeof lastTimestamp !== "string") continue;
    const cluster = clusterIn(message);
    const atMs = Date.parse(lastTimestamp);
    if (cluster === undefined || !(atMs >= (last.get(cluster)?.atMs ?? 0))) continue;
    last.set(cluster, { atMs, isSkew: reason === eventReasons.clockSkew, message });
  }
  return [...last.values()]
    .filter(({ atMs, isSkew }) => isSkew && now.getTime() - atMs < RECENT_MS)
    .map(({ message }) => message)
    .toSorted();
}
