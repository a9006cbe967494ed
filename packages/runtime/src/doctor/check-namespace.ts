import type { CheckOutcome } from "@millwright/core";
import { type ApiClient, isApiError, isNotFound, namespaceResource } from "@millwright/kube";

/**
 * Checks that the namespace exists: lists of one that does not are empty, so that nothing else fails. Nothing where the user may not read it, as the controllers need not, or where another check
 * reports why it cannot be read.
 *
 * @throws the reason of the signal when it aborts
 */
export async function checkNamespace(
  api: Pick<ApiClient, "get">,
  namespace: string,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const name = "Namespace";
  try {
    await api.get(namespaceResource, { name: namespace }, { signal });
    return { name, status: "ok", message: `Namespace ${namespace} exists.` };
  } catch (error) {
    signal.throwIfAborted();
    if (!isApiError(error)) throw error;
    if (!isNotFound(error)) return undefined;
    return {
      name,
      status: "failed",
      message: `Namespace ${namespace} does not exist.`,
      remedy: `Create it: "kubectl create namespace ${namespace}", or select another with --namespace.`,
    };
  }
}
