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
 * Reasons of failures that did not come from an API server, so that a reader of a log can tell them apart:
 * `ClientTimeout` (no answer before the deadline), `Unreachable` (no connection, or it broke),
 * `MalformedResponse` (an answer, or a line of a watch, that is not Kubernetes JSON), `WatchInterrupted` (a watch that broke off, or ended
 * inside a line), `WatchSilent` (a watch on which nothing arrived for long).
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
 * Why a request to the API server failed. Recognise it with {@link isApiError} and its kin, never with `instanceof`: two
 * copies of this package may be in one process.
 */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no answer (see {@link LocalReason}). */
  readonly status: number;
  /** `reason` of the Status (`NotFound`, `Conflict`, …), or a {@link LocalReason}. */
  readonly reason: string;
  readonly details?: StatusDetails;
  /** How long the server asked to wait, milliseconds. */
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

/** The reason that an API server gives for a status, for answers (of proxies, mostly) that carry no Status. */
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

/** Longest piece of a foreign body (an HTML page of a proxy, say) that goes into a message. */
const excerptLength = 200;

/**
 * Makes an {@link ApiError} of an answer with an error status.
 *
 * @param request what was asked, for the message: `GET /api/v1/nodes/a`
 * @param body text of the answer; a `Status` object if all is well, but anything is accepted
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
    message: `${request}: the server answered ${status}${excerpt === "" ? "" : `: ${excerpt}`}`,
    retryAfterMs,
  });
}

/** Makes an {@link ApiError} of a `Status` object, from a response or from the `ERROR` event of a watch. */
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
        : `${fallback.request}: the server answered ${code}`,
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
 * The object does not exist: the server names what it did not find. A 404 without a name says only that nobody serves the path, as while an API server
 * starts or a definition is away; of objects it says nothing.
 */
export function isNotFound(error: unknown): error is ApiError {
  return hasStatus(error, 404) && (error.details?.name ?? "") !== "";
}

/** The object changed since it was read, or a precondition does not hold: read again and recompute. */
export function isConflict(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason !== "AlreadyExists";
}

/** An object of that name is there already. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasStatus(error, 409) && error.reason === "AlreadyExists";
}

/** The resource version or the continue token is too old (`Gone`, `Expired`): list afresh. */
export function isGone(error: unknown): error is ApiError {
  return hasStatus(error, 410);
}

/** Cause of an error about a version that the server has not reached. Source: apimachinery `CauseTypeResourceVersionTooLarge`. */
const tooLargeVersionCause = "ResourceVersionTooLarge";

/**
 * The resource version is one that the server has not reached: it is behind another server of the cluster, or was restored from a backup, or started
 * empty. Asking again for the same version may never succeed: list afresh.
 */
export function isVersionTooLarge(error: unknown): error is ApiError {
  return hasStatus(error, 504) && error.details?.causes?.some(({ reason }) => reason === tooLargeVersionCause) === true;
}

/** The object breaks a rule of its schema; `details.causes` names the fields. */
export function isInvalid(error: unknown): error is ApiError {
  return hasStatus(error, 422);
}

/** The server refuses for now: overload, or (with a `DisruptionBudget` cause) an eviction that a budget forbids. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasStatus(error, 429);
}

/** The cause by which an eviction is told that a PodDisruptionBudget forbids it. Source: policy/v1 `DisruptionBudgetCause`. */
const disruptionBudgetCause = "DisruptionBudget";

/** An eviction was refused by a disruption budget; repeating it at once is pointless. */
export function isDisruptionBudgetRefusal(error: unknown): error is ApiError {
  return (
    hasStatus(error, 429) && (error.details?.causes?.some((cause) => cause.reason === disruptionBudgetCause) ?? false)
  );
}

/** The credentials do not allow it. */
export function isForbidden(error: unknown): error is ApiError {
  return hasStatus(error, 403);
}

/** There are no valid credentials. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasStatus(error, 401);
}

/** There is no answer to go by: no connection, a broken one, silence, nonsense. The request may have been carried out. */
export function isUnanswered(error: unknown): error is ApiError {
  return hasStatus(error, 0);
}

/**
 * Whether a write that failed so may have been carried out nevertheless: no answer, an answer of a server that had trouble on the
 * way (etcd timeouts are 500s), or a call that was aborted. An expectation about it must stand. Only a refusal is certain.
 */
export function mayHaveHappened(error: unknown): boolean {
  return !isApiError(error) || error.status === 0 || error.status >= 500;
}

/** May well succeed later without anything being changed: overload, server faults, broken connections, timeouts. */
export function isTransient(error: unknown): error is ApiError {
  return isApiError(error) && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Resolves with undefined where the promise would reject with {@link isNotFound}; other errors pass. */
export async function ignoreNotFound<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
