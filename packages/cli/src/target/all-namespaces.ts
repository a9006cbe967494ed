import type { ResourceType } from "@millwright/core";
import { type ApiClient, listAll } from "@millwright/kube";

/**
 * The namespaces that have objects of a kind, sorted.
 *
 * @param needs what has to be allowed, as a clause
 * @throws ConfigError when they cannot be listed
 */
export async function namespacesOf(
  api: ApiClient,
  type: ResourceType,
  needs: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { explainFailure } = await import("@millwright/runtime");
  try {
    const { items } = await listAll(api, type, { omitManagedFields: true }, { signal });
    return [...new Set(items.map(({ metadata }) => metadata.namespace ?? ""))].toSorted();
  } catch (error) {
    throw explainFailure(error, needs);
  }
}
