import { eventReasons } from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, eventResource, isForbidden } from "@millwright/kube";
import type { ListFailure, RefusedWrite } from "../explain/cluster-objects.ts";

interface EventObject extends ApiObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
  readonly message?: string;
  readonly lastTimestamp?: string;
}

/** A refused write is attempted, and its event counted, at least once a minute; one that is older has ended, milliseconds. */
const RECENT_MS = 150_000;

/** A list that fails is repeated every 15 minutes or sooner, and its event after 30; one that is older has ended, milliseconds. */
const LISTED_MS = 48 * 60_000;

/** The recent events of a reason, the last first; none where events may not be listed. */
async function readRecent(
  api: Pick<ApiClient, "list">,
  namespace: string,
  reason: string,
  recentMs: number,
  now: Date,
  signal?: AbortSignal,
): Promise<readonly RefusedWrite[]> {
  const options = { namespace, fieldSelector: `reason=${reason}` };
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
    .filter(({ lastAt }) => now.getTime() - Date.parse(lastAt) < recentMs)
    .toSorted((a, b) => Date.parse(b.lastAt) - Date.parse(a.lastAt));
}

type Asked = readonly [api: Pick<ApiClient, "list">, namespace: string, now: Date, signal?: AbortSignal];

/** The writes that an API server refuses now, the last first, from the events of their objects; none where events may not be listed. */
export const readRefusedWrites = async (...[api, namespace, ...rest]: Asked): Promise<readonly RefusedWrite[]> =>
  readRecent(api, namespace, eventReasons.writeRefused, RECENT_MS, ...rest);

/** The classes whose VMs could not be listed lately, and since then were not, likewise. */
export async function readListFailures(...[api, namespace, ...rest]: Asked): Promise<readonly ListFailure[]> {
  const [failed, listed] = await Promise.all(
    [eventReasons.failedListVms, eventReasons.listedVms].map(async (reason) =>
      readRecent(api, namespace, reason, LISTED_MS, ...rest),
    ),
  );
  const endOf = (name: string): number => Date.parse(listed?.find((end) => end.name === name)?.lastAt ?? "");
  return failed?.filter(({ name, lastAt }) => !(endOf(name) >= Date.parse(lastAt))) ?? [];
}
