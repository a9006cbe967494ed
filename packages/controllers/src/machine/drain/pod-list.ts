import { listAll, podResource } from "@millwright/kube";
import type { Target } from "../../cluster/context.ts";
import type { Pod } from "../../model/node-objects.ts";

/**
 * Reads the pods of a node from the API server into the cache. A list without a resourceVersion is consistent: it has every pod that was bound before it
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
 */
export async function readPodsOf(nodeName: string, { api, caches }: Target): Promise<void> {
  const options = { fieldSelector: `spec.nodeName=${nodeName}`, omitManagedFields: true };
  for (const pod of (await listAll<Pod>(api, podResource, options)).items) caches.pods.store.applyWrite(pod);
}
