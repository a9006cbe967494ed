import {
  type ApiClient,
  customResourceDefinitionResource,
  isForbidden,
  isNotFound,
  type KubeObject,
} from "@millwright/kube";

/**
 * The metadata of a CRD, by which its deletion is noticed. Without the permission to read CRDs none is found; the last operation of a machine names the one that pauses its deletion all the same.
 *
 * @throws ApiError when the API server does not respond
 */
export async function readCrd(
  name: string,
  { control, signal }: { readonly control: Pick<ApiClient, "get">; readonly signal?: AbortSignal | undefined },
): Promise<KubeObject | undefined> {
  try {
    return await control.get(customResourceDefinitionResource, { name }, { metadataOnly: true, signal });
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
