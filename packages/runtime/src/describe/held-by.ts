import { type CrdState, definitionHolding } from "@millwright/controllers";
import type { Machine } from "@millwright/core";
import {
  type ApiClient,
  customResourceDefinitionResource,
  isForbidden,
  isNotFound,
  type KubeObject,
} from "@millwright/kube";

/**
 * The definition because of which a machine is on its way out without being deleted. Who may not read definitions is not told; the machine's last operation names it all the same.
 *
 * @throws ApiError when the API server does not answer
 */
export async function heldBy(
  machine: Machine,
  { control, signal }: { readonly control: Pick<ApiClient, "get">; readonly signal?: AbortSignal },
): Promise<CrdState | undefined> {
  const read = async (name: string): Promise<KubeObject | undefined> => {
    try {
      return await control.get(customResourceDefinitionResource, { name }, { metadataOnly: true, signal });
    } catch (error) {
      if (isForbidden(error) || isNotFound(error)) return undefined;
      throw error;
    }
  };
  return definitionHolding(machine, read);
}
