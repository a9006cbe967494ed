import type { ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import type { Scope } from "../client/call-options.ts";
import { keyOf } from "../objects/kube-object.ts";
import { isNewer } from "../objects/resource-version.ts";

/** After a cache was found to be empty, it is checked after so long, then after twice as long, and so on, milliseconds. */
export const emptinessChecks = { firstMs: 60_000, longestMs: 10 * 60_000 };

/**
 * Lists one object of a kind of which a cache holds none: a first list that was empty by mistake is compared with nothing, and nothing corrects it while no object changes.
 *
 * @param version up to which the cache is complete: of a newer object the event is still to come
 * @returns the key of an object that the cache lacks; `undefined` when there is none
 */
export async function findInEmpty(
  api: Pick<ApiClient, "list">,
  type: ResourceType,
  scope: Scope,
  version: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { items } = await api.list(type, { ...scope, limit: 1, metadataOnly: true }, { signal });
  const object = items.find(({ metadata }) => !isNewer(metadata.resourceVersion, version));
  return object === undefined ? undefined : keyOf(object);
}
