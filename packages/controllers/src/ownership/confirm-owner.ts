import type { ResourceType } from "@millwright/core";
import type { ApiClient, ApiObject } from "@millwright/kube";

/**
 * Asks the API server, not the cache, whether an owner still is who it was and stays. Adopting on behalf of one that is being deleted would give its
 * children to the garbage collector. Throws when it may not adopt.
 */
export async function confirmOwner(api: Pick<ApiClient, "get">, type: ResourceType, owner: ApiObject): Promise<void> {
  const { name = "", namespace, uid } = owner.metadata;
  const live = await api.get(type, { name, namespace });
  if (live.metadata.uid !== uid) throw new Error(`${type.kind} ${name} was replaced by another one; it adopts nothing`);
  if (live.metadata.deletionTimestamp !== undefined)
    throw new Error(`${type.kind} ${name} is being deleted; it adopts nothing`);
}

/** {@link confirmOwner} for one pass: asked before the first adoption, and the answer, be it a refusal, holds for all. */
export function confirmOwnerOnce(
  api: Pick<ApiClient, "get">,
  type: ResourceType,
  owner: ApiObject,
): () => Promise<void> {
  let answer: Promise<void> | undefined;
  return () => (answer ??= confirmOwner(api, type, owner));
}
