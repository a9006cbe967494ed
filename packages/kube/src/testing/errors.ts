import { ApiError } from "../client/api-error.ts";

/** What an API server answers to a write that is based on an old version. */
export function conflictError(): ApiError {
  return new ApiError({ status: 409, reason: "Conflict", message: "the object has been modified" });
}

/** What an API server answers about an object that is not there. */
export function notFoundError(name = "missing"): ApiError {
  return new ApiError({ status: 404, reason: "NotFound", message: `"${name}" not found`, details: { name } });
}

/** What an API server answers to a creation in a namespace that is being deleted. */
export function namespaceTerminatingError(namespace = "default"): ApiError {
  return new ApiError({
    status: 403,
    reason: "Forbidden",
    message: `unable to create new content in namespace ${namespace} because it is being terminated`,
    details: { causes: [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated` }] },
  });
}

/** What an API server answers for a path that it does not serve, or not yet. */
export function notServedError(): ApiError {
  return new ApiError({ status: 404, reason: "NotFound", message: "the server answered 404: 404 page not found" });
}

/** What an API server answers when something in it broke. */
export function serverError(): ApiError {
  return new ApiError({ status: 500, reason: "InternalError", message: "etcdserver: request timed out" });
}

/**
 * The error of an overloaded API server; with `budget` set, that of an eviction that a
 * disruption budget protects.
 */
export function tooManyRequestsError(
  options: { readonly budget?: string; readonly retryAfterMs?: number } = {},
): ApiError {
  const { budget, retryAfterMs } = options;
  return new ApiError({
    status: 429,
    reason: "TooManyRequests",
    message:
      budget === undefined
        ? "the server has received too many requests and has asked us to try again later"
        : "Cannot evict pod as it would violate the pod's disruption budget.",
    ...(budget === undefined
      ? {}
      : {
          details: {
            causes: [
              { reason: "DisruptionBudget", message: `The disruption budget ${budget} needs more healthy pods` },
            ],
          },
        }),
    retryAfterMs,
  });
}
