import type { ResourceType } from "@millwright/core";
import type { ApiClient, ApiObject } from "@millwright/kube";

/**
 * Confirms with the API server, not the cache, that an owner has the same UID and is not being deleted. An object that a terminating owner adopts would be
 * deleted by the garbage collector. Throws when the owner may not adopt.
 */
export async function confirmOwner(api: Pick<ApiClient, "get">, type: ResourceType, owner: ApiObject): Promise<void> {
  const { name = "", namespace, uid } = owner.metadata;
  const live = await api.get(type, { name, namespace });
  if (live.metadata.uid !== uid) throw new Error(`${type.kind} ${name} was replaced by another one; it adopts nothing`);
  if (live.metadata.deletionTimestamp !== undefined)
    throw new Error(`${type.kind} ${name} is being deleted; it adopts nothing`);
}

/** {@link confirmOwner} for one reconcile: called before the first adoption; the result applies to all. */
export function confirmOwnerOnce(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  owner: ApiObject,
): () => Promise<void> {
  let answer: Promise<void> | undefined;
  return () => (answer ??= confirmOwner(api, type, owner));
}
