import { isRecord } from "@millwright/base";
import { parseJson } from "../json/parse-json.ts";

const brand: unique symbol = Symbol.for("millwright.dev/kube/ApiError");

/** One cause of a failure, `details.causes` of a Status: for an invalid object the field and what is wrong with it. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** `details` of a Status. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly StatusCause[];
}

/**
 * Reasons of failures that did not come from an API server:
 * `ClientTimeout` (no response before the deadline), `Unreachable` (no connection, or it broke),
 * `MalformedResponse` (a response, or a line of a watch, that is not Kubernetes JSON), `WatchInterrupted` (a watch that broke, or ended
 * inside a line), `WatchSilent` (a watch without data for too long).
 */
export type LocalReason = "ClientTimeout" | "Unreachable" | "MalformedResponse" | "WatchInterrupted" | "WatchSilent";

/** What an {@link ApiError} is made of. */
export interface ApiErrorInit {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Why a request to the API server failed. Check it with {@link isApiError} and similar functions, never with `instanceof`: two
 * copies of this package may be in one process.
 */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no response (see {@link LocalReason}). */
  readonly status: number;
  /** `reason` of the Status (`NotFound`, `Conflict`, …), or a {@link LocalReason}. */
  readonly reason: string;
  readonly details?: StatusDetails;
  /** How long the server requested to wait, milliseconds. */
  readonly retryAfterMs?: number;
  readonly [brand] = true;

  constructor(init: ApiErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = "ApiError";
    this.status = init.status;
    this.reason = init.reason;
    if (init.details !== undefined) this.details = init.details;
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs;
  }
}

/** The reason of an API server for a status, for responses (mostly of proxies) without a Status. */
const reasonOfStatus: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Maximum length of an excerpt of a foreign body, such as an HTML page of a proxy, in a message. */
const excerptLength = 200;

/**
 * Creates an {@link ApiError} from a response with an error status.
 *
 * @param request the request, for the message: `GET /api/v1/nodes/a`
 * @param body text of the response; normally a `Status` object, but anything is accepted
 * @param retryAfterMs from the `Retry-After` header; `details.retryAfterSeconds` serves when there was none
 */
export function apiErrorFromResponse(request: string, status: number, body: string, retryAfterMs?: number): ApiError {
  let parsed: unknown;
  try {
    parsed = parseJson(body);
  } catch {
    parsed = undefined;
  }
  if (isRecord(parsed) && parsed["kind"] === "Status") {
    return apiErrorFromStatus(parsed, { status, request, retryAfterMs });
  }
  const excerpt = body.trim().replace(/\s+/g, " ").slice(0, excerptLength);
  return new ApiError({
    status,
    reason: reasonOfStatus[status] ?? "Unknown",
    message: `${request}: the server responded with ${status}${excerpt === "" ? "" : `: ${excerpt}`}`,
    retryAfterMs,
  });
}

/** Creates an {@link ApiError} from a `Status` object, from a response or from the `ERROR` event of a watch. */
export function apiErrorFromStatus(
  status: Readonly<Record<string, unknown>>,
  fallback: { readonly request: string; readonly status?: number; readonly retryAfterMs?: number | undefined },
): ApiError {
  const code = typeof status["code"] === "number" ? status["code"] : (fallback.status ?? 500);
  const details = isRecord(status["details"]) ? readDetails(status["details"]) : undefined;
  const seconds = details?.retryAfterSeconds;
  return new ApiError({
    status: code,
    reason:
      typeof status["reason"] === "string" && status["reason"] !== ""
        ? status["reason"]
        : (reasonOfStatus[code] ?? "Unknown"),
    message:
      typeof status["message"] === "string" && status["message"] !== ""
        ? status["message"]
        : `${fallback.request}: the server responded with ${code}`,
    details,
    retryAfterMs: fallback.retryAfterMs ?? (seconds !== undefined && seconds > 0 ? seconds * 1000 : undefined),
  });
}

function readDetails(raw: Readonly<Record<string, unknown>>): StatusDetails {
  const text = (key: string) => (typeof raw[key] === "string" ? { [key]: raw[key] } : {});
  const causes = Array.isArray(raw["causes"]) ? raw["causes"].filter(isRecord).map(readCause) : undefined;
  return {
    ...text("name"),
    ...text("group"),
    ...text("kind"),
    ...text("uid"),
    ...(typeof raw["retryAfterSeconds"] === "number" ? { retryAfterSeconds: raw["retryAfterSeconds"] } : {}),
    ...(causes === undefined ? {} : { causes }),
  };
}

function readCause(raw: Readonly<Record<string, unknown>>): StatusCause {
  return {
    ...(typeof raw["reason"] === "string" ? { reason: raw["reason"] } : {}),
    ...(typeof raw["message"] === "string" ? { message: raw["message"] } : {}),
    ...(typeof raw["field"] === "string" ? { field: raw["field"] } : {}),
  };
}

/** Whether a thrown value is an {@link ApiError}, of whatever copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === "object" && error !== null && brand in error;
}

function hasStatus(error: unknown, status: number): error is ApiError {
  return isApiError(error) && error.status === status;
}

/**
 * The object does not exist: the server names the missing object. A 404 without a name only means that the path is not served, as while an API server
 * starts or a CRD is missing; the object may still exist.
 */
export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404) && (error.details?.name ?? "") !== "";
}

/** The object changed since it was read, or a precondition does not hold: read again and recompute. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== "AlreadyExists";
}

/** An object of that name exists already. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason === "AlreadyExists";
}

/** The resource version or the continue token is too old (`Gone`, `Expired`): list again. */
export function isGone(error: unknown): error is ApiError {
  return hasStatus(error, 410);
}

/** Cause of an error about a version that the server has not reached. Source: apimachinery `CauseTypeResourceVersionTooLarge`. */
const tooLargeVersionCause = "ResourceVersionTooLarge";

/**
 * The resource version is one that the server has not reached: it is behind another server of the cluster, or was restored from a backup, or started
 * empty. A request for the same version may never succeed: list again.
 */
export function isVersionTooLarge(error: unknown): error is ApiError {
  return hasStatus(error, 504) && error.details?.causes?.some(({ reason }) => reason === tooLargeVersionCause) === true;
}

/** The object is invalid; `details.causes` names the fields. */
export function isInvalid(error: unknown): error is ApiError {
  return hasStatus(error, 422);
}

/** Message about a JSON patch that does not apply. Source: apimachinery `NewGenericServerResponse`, for 422. */
const patchNotApplicable = "the server rejected our request due to an error in our request";

/**
 * A patch was meant for another object, or another state of it: a `test` or the path of a JSON patch does not fit, or `metadata.uid` in another patch is not
 * that of the object. The server answers as if the patch were invalid; what to do is the same as for a conflict.
 */
export function isPatchMismatch(error: unknown): error is ApiError {
  return (
    isInvalid(error) &&
    (error.message === patchNotApplicable ||
      error.details?.causes?.some(({ field }) => field === "metadata.uid") === true)
  );
}

/** The server rejects the request for now: overload, or (with a `DisruptionBudget` cause) an eviction that a budget does not allow. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasStatus(error, 429);
}

/** The cause of an eviction that a PodDisruptionBudget does not allow. Source: policy/v1 `DisruptionBudgetCause`. */
const disruptionBudgetCause = "DisruptionBudget";

/** A PodDisruptionBudget does not allow the eviction; an immediate retry is pointless. */
export function isDisruptionBudgetError(error: unknown): error is ApiError {
  return (
    hasStatus(error, 429) && (error.details?.causes?.some((cause) => cause.reason === disruptionBudgetCause) ?? false)
  );
}

/** The credentials do not allow it. */
export function isForbidden(error: unknown): error is ApiError {
  return hasStatus(error, 403);
}

/** The cause of a creation in a namespace that is being deleted. Source: core/v1 `NamespaceTerminatingCause`. */
const namespaceTerminatingCause = "NamespaceTerminating";

/** The object cannot be created, by no client: its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return (
    isForbidden(error) && error.details?.causes?.some(({ reason }) => reason === namespaceTerminatingCause) === true
  );
}

/** There are no valid credentials. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasStatus(error, 401);
}

/** There is no usable response: no connection, a broken one, a timeout, a malformed response. The request may have succeeded. */
export function isUnanswered(error: unknown): error is ApiError {
  return hasStatus(error, 0);
}

/**
 * Whether a write that failed with this error may have succeeded: no response, a server error (etcd timeouts are 500s),
 * or an aborted call. An expectation about it must be kept. Only a rejection is certain.
 */
export function mayHaveSucceeded(error: unknown): boolean {
  return !isApiError(error) || error.status === 0 || error.status >= 500;
}

/** A retry may succeed: overload, server errors, broken connections, timeouts. */
export function isTransient(error: unknown): error is ApiError {
  return isApiError(error) && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Resolves with undefined where the promise would reject with {@link isNotFound}; other errors are rethrown. */
export async function ignoreNotFound<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
