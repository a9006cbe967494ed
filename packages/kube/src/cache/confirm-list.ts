import type { Random, ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { isApiError, isNotFound } from "../client/api-error.ts";
import { type ApiObject, keyOf, newestOf, type ObjectRef } from "../objects/kube-object.ts";
import { isNewer } from "../objects/resource-version.ts";

/** So many objects are read one by one at most: a wrong list lacks all of them, or most. */
export const samples = 5;

/** A list that lacks objects that exist, or their newest versions: truncated, empty, or from a server that lags. */
export class IncompleteListError extends Error {
  override readonly name = "IncompleteListError";
}

/**
 * Reads some of the objects of a cache that a list lacks. They are missing when they were deleted while nothing was watched, or when the list is wrong.
 *
 * @param missing objects of the cache that are not in the list
 * @throws IncompleteListError when one of them exists; ApiError when that cannot be read for another reason than missing permissions
 */
export async function confirmAbsence(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  missing: readonly ApiObject[],
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  if (missing.length === 0) return;
  const offset = Math.floor(random.next() * missing.length);
  const step = Math.max(1, Math.floor(missing.length / samples));
  const chosen = missing.filter((_, index) => (index + offset) % step === 0).slice(0, samples);
  for (const object of chosen) {
    if ((await versionOf(api, type, object.metadata, signal)) === undefined) continue;
    throw new IncompleteListError(`the list lacks ${missing.length} objects of the cache, but ${keyOf(object)} exists`);
  }
}

/**
 * Reads the newest of the objects of a cache that are newer than a list. A server that went back to an earlier state has none of them as the cache knows it; when it has
 * one, the list is from a server that lags.
 *
 * @param newer objects of the cache that are newer than the list
 * @returns what shows that the server did not go back; undefined when nothing does
 * @throws ApiError when an object cannot be read for another reason than missing permissions
 */
export async function findLag(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  newer: readonly ApiObject[],
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const object of newestOf(newer, samples)) {
    const found = await versionOf(api, type, object.metadata, signal);
    if (found !== undefined && !isNewer(object.metadata.resourceVersion, found)) {
      return `${keyOf(object)} exists at version ${found}`;
    }
  }
  return undefined;
}

/** The version at which an object exists; undefined when it does not. */
export async function versionOf(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  { namespace, name = "", uid }: Partial<ObjectRef> & { readonly uid?: string | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { metadata } = await api.get(type, { namespace, name }, { signal, metadataOnly: true });
    return metadata.uid === uid ? (metadata.resourceVersion ?? "") : undefined;
  } catch (error) {
    // Who may list, but not read, has to take the list as it is.
    if (isNotFound(error) || (isApiError(error) && error.status === 403)) return undefined;
    throw error;
  }
}
