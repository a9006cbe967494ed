import { ConfigError } from "@millwright/base";
import { type ApiError, isApiError, isForbidden, isNotFound, isTransient, isUnauthorized } from "@millwright/kube";

/** Whether the API server does not know the kind at all: a 404 that names no object. */
export const isUnservedKind = (error: unknown): boolean =>
  isApiError(error) && error.status === 404 && !isNotFound(error);

/** Some messages have those words already. */
function unreachable({ reason, message }: ApiError): string {
  const words = "the API server is unreachable";
  const what = message.includes(words) ? message : `${words}: ${message}`;
  return reason === "Unreachable" ? `${what}; check the server of the kubeconfig, and the network to it` : what;
}

/**
 * Explains a failed read in one sentence, with what to do: missing permissions or credentials, an unreachable API server, and kinds that it does not serve. Other failures,
 * and failures that were explained, come back as they are.
 *
 * @param needs what has to be allowed, as a clause: `a dry run needs to list pods`
 */
export function explainFailure(error: unknown, needs: string): unknown {
  if (isUnauthorized(error))
    return new ConfigError(`the API server does not accept the credentials of the kubeconfig: ${error.message}`, {
      cause: error,
    });
  if (isForbidden(error)) return new ConfigError(`${error.message}; ${needs}`, { cause: error });
  if (isTransient(error)) return new ConfigError(unreachable(error), { cause: error });
  if (isApiError(error) && isUnservedKind(error))
    return new ConfigError(
      `${error.message}; the cluster does not serve the machine kinds: select another cluster, or run "millwright crds apply"`,
      { cause: error },
    );
  return error;
}
