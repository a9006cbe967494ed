import type { Random, ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { isApiError, isNotFound } from "../client/api-error.ts";
import { type ApiObject, keyOf } from "../objects/kube-object.ts";

/** So many of the missing objects are read one by one: a wrong list lacks all of them, or most. */
const samples = 5;

/** A list that lacks objects that exist: truncated, empty, or from a server that lags. */
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
    if (!(await exists(api, type, object, signal))) continue;
    throw new IncompleteListError(`the list lacks ${missing.length} objects of the cache, but ${keyOf(object)} exists`);
  }
}

async function exists(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  { metadata: { namespace, name = "", uid } }: ApiObject,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const found = await api.get(type, { namespace, name }, { signal, metadataOnly: true });
    return found.metadata.uid === uid;
  } catch (error) {
    // Who may list, but not read, has to take the list as it is.
    if (isNotFound(error) || (isApiError(error) && error.status === 403)) return false;
    throw error;
  }
}
