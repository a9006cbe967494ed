import type { ResourceType } from "@millwright/core";
import { type ApiClient, type ApiObject, listAll, type ListAllOptions, type ReadonlyStore } from "@millwright/kube";

/**
 * Reads objects from the API server into a cache, which may lack some. A list without a resourceVersion is consistent: it has every object that was created before it
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
 */
export async function readAllInto<T extends ApiObject>(
  store: Pick<ReadonlyStore<T>, "applyWrite">,
  api: Pick<ApiClient, "list">,
  type: ResourceType,
  which: Pick<ListAllOptions, "namespace" | "fieldSelector">,
): Promise<void> {
  const { items } = await listAll<T>(api, type, { ...which, omitManagedFields: true });
  for (const item of items) store.applyWrite(item);
}
