import { type CrdState, findPausingCrd } from "@millwright/controllers";
import type { Machine } from "@millwright/core";
import {
  type ApiClient,
  customResourceDefinitionResource,
  isForbidden,
  isNotFound,
  type KubeObject,
} from "@millwright/kube";

/**
 * The CRD that pauses the deletion of a machine. Without the permission to read CRDs none is found; the machine's last operation names it all the same.
 *
 * @throws ApiError when the API server does not respond
 */
export async function pausingCrd(
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
  return findPausingCrd(machine, read);
}
