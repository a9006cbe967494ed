import type { CheckOutcome } from "@millwright/core";
import { type ApiClient, isApiError, isNotFound, namespaceResource } from "@millwright/kube";
import { namespaceTerminating, terminatingNamespaceRemedy } from "../explain/terminating-namespace.ts";

/**
 * Checks that the namespace exists, and is not being deleted: lists of one that does not exist are empty, so that nothing else fails. Nothing where the user may not read it, as the controllers need not, or where another check
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
    const { metadata } = await api.get(namespaceResource, { name: namespace }, { signal });
    if (metadata.deletionTimestamp != null)
      return {
        name,
        status: "failed",
        message: namespaceTerminating(namespace),
        remedy: terminatingNamespaceRemedy(namespace).text,
      };
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
