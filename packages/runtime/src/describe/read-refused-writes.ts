import { eventReasons } from "@millwright/core";
import { type ApiClient, type ApiObject, eventResource, isForbidden } from "@millwright/kube";
import type { RefusedWrite } from "../explain/cluster-objects.ts";

interface EventObject extends ApiObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
  readonly message?: string;
  readonly lastTimestamp?: string;
}

/** A refused write is attempted, and its event counted, at least once a minute; one that is older has ended, milliseconds. */
const RECENT_MS = 150_000;

/** The writes that an API server refuses now, the last first, from the events of their objects; none where events may not be listed. */
export async function readRefusedWrites(
  api: Pick<ApiClient, "list">,
  namespace: string,
  now: Date,
  signal?: AbortSignal,
): Promise<readonly RefusedWrite[]> {
  const options = { namespace, fieldSelector: `reason=${eventReasons.writeRefused}` };
  const { items } = await api.list<EventObject>(eventResource, options, { signal }).catch((error: unknown) => {
    if (isForbidden(error)) return { items: [] };
    throw error;
  });
  return items
    .map(({ involvedObject: { kind = "", name = "" } = {}, message = "", lastTimestamp: lastAt = "" }) => ({
      kind,
      name,
      message,
      lastAt,
    }))
    .filter(({ lastAt }) => now.getTime() - Date.parse(lastAt) < RECENT_MS)
    .toSorted((a, b) => Date.parse(b.lastAt) - Date.parse(a.lastAt));
}
