import { fieldOf, mayHaveSucceededBefore } from "@millwright/core/driver-kit";

/** The service that all requests but those for tokens go to, as messages name it. */
export const computeEngine = "Compute Engine";

/** A request that another service than Compute Engine has not answered; its cause is what broke the connection. */
export class NoAnswer extends Error {
  override readonly name: string = "NoAnswer";
  /** The service, as messages name it. */
  readonly service: string;

  constructor(service: string, cause: unknown) {
    super(`${service} did not answer`, { cause });
    this.service = service;
  }
}

/** An answer of Google that is no success: of Compute Engine, or of who gives out tokens. */
export class GceFailure extends Error {
  override readonly name: string = "GceFailure";
  /** HTTP status. */
  readonly status: number;
  /** Google's word for it, such as `quotaExceeded` or `invalid_grant`; empty when the answer cannot be read. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  /** Who answered, for messages. */
  service = computeEngine;

  constructor(status: number, reason: string, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Longest waiting time that is believed, seconds. */
const longestRetryAfterS = 3_600;

function retryAfterMsOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(value) ? Math.min(longestRetryAfterS, Number(value)) * 1_000 : undefined;
}

/** An unreadable response. It may contain secrets, and is not quoted. */
export function unreadable(
  status: number,
  { retryAfterMs, cause }: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
): GceFailure {
  const failure = new GceFailure(status, "", `an unreadable response with status ${status}`, retryAfterMs);
  if (cause !== undefined) failure.cause = cause;
  return failure;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Reads an error response. The SDK keeps only its message, but the reason distinguishes an exhausted quota from requests that come too
 * often.
 */
export function readFailure(status: number, headers: Headers, body: string): GceFailure {
  const retryAfterMs = retryAfterMsOf(headers);
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return unreadable(status, { retryAfterMs });
  }
  const error = fieldOf(json, "error");
  // The form of OAuth and STS.
  if (typeof error === "string") {
    return new GceFailure(status, error, textOf(fieldOf(json, "error_description")) || error, retryAfterMs);
  }
  const errors = fieldOf(error, "errors");
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const reason = textOf(fieldOf(first, "reason")) || errorInfoOf(error) || textOf(fieldOf(error, "status"));
  const message = textOf(fieldOf(error, "message")) || textOf(fieldOf(first, "message"));
  if (reason === "" && message === "") {
    return unreadable(status, { retryAfterMs });
  }
  return new GceFailure(status, reason, message, retryAfterMs);
}

/** The reason in `google.rpc.ErrorInfo`, which answers without `errors` have: their status alone does not distinguish a quota from a rate. */
function errorInfoOf(error: unknown): string {
  const details = fieldOf(error, "details");
  const infos: readonly unknown[] = Array.isArray(details) ? details : [];
  const info = infos.find((detail) => fieldOf(detail, "@type") === "type.googleapis.com/google.rpc.ErrorInfo");
  return textOf(fieldOf(info, "reason"));
}

/** Whether a call was rejected with one of these reasons. */
export const hasErrorReason = (error: unknown, ...reasons: readonly string[]): error is GceFailure =>
  error instanceof GceFailure && reasons.includes(error.reason);

/**
 * Whether the insertion of an instance has been rejected for sure, so that no VM comes of it. A name that is taken may be that of a VM that is not shown yet.
 */
export const isInsertRejected = (error: unknown): boolean =>
  error instanceof GceFailure &&
  !mayHaveSucceededBefore(error) &&
  error.status >= 400 &&
  error.status < 500 &&
  error.reason !== "alreadyExists";

/**
 * Whether a call failed because this resource does not exist. A missing project, or a 404 of a proxy, does not count.
 *
 * @param path end of the path by which Compute Engine names it, such as `instances/m`
 */
export const isMissing = (error: unknown, path: string): boolean =>
  error instanceof GceFailure && error.status === 404 && error.message.includes(`/${path}'`);
