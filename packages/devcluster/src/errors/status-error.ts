import type { JsonObject } from "../json/json.ts";

/** The names of a resource in an error. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** The error of one field, as in `details.causes`. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/**
 * An error that is sent as a `Status`. Matched by its brand, since two copies of this package may be loaded. `headers` are sent
 * with it (`Retry-After`).
 */
export class StatusError extends Error {
  readonly brand = "millwright.devcluster.StatusError";
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The metadata of the Status: a token to continue with. */
  readonly metadata: JsonObject;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
    metadata: JsonObject = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.headers = headers;
    this.metadata = metadata;
  }

  /** The `Status` object of this error. */
  toStatus(): JsonObject {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.metadata,
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** Whether a value is a StatusError, of any copy of this package. */
export function isStatusError(value: unknown): value is StatusError {
  return value instanceof Error && "brand" in value && value.brand === "millwright.devcluster.StatusError";
}

/** The name of a resource in messages: `pods`, `leases.coordination.k8s.io`. */
export function qualifiedResource(resource: ResourceName): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function qualifiedKind(resource: ResourceName): string {
  return resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
}

function resourceDetails(resource: ResourceName, name: string): JsonObject {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

/** 404 for one object. */
export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(
    404,
    "NotFound",
    `${qualifiedResource(resource)} "${name}" not found`,
    resourceDetails(resource, name),
  );
}

/** 404 for a path that no resource serves. */
export function unknownResource(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

/** 409 AlreadyExists. */
export function alreadyExists(resource: ResourceName, name: string, isBeingDeleted = false): StatusError {
  const prefix = isBeingDeleted ? "object is being deleted: " : "";
  const message = `${prefix}${qualifiedResource(resource)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, resourceDetails(resource, name));
}

/** 409 Conflict; `why` defaults to that of optimistic concurrency. */
export function conflict(
  resource: ResourceName,
  name: string,
  why = "the object has been modified; please apply your changes to the latest version and try again",
): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(resource)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, resourceDetails(resource, name));
}

/** 409 Conflict of server-side apply: one cause per field that another manager owns. */
export function applyConflict(message: string, causes: readonly Cause[]): StatusError {
  return new StatusError(409, "Conflict", message, { causes: causes.map((cause) => ({ ...cause })) });
}

/** 422 Invalid with one cause per field. */
export function invalid(resource: ResourceName, name: string, causes: readonly Cause[]): StatusError {
  const texts = causes.map((cause) => (cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`));
  const [only] = texts;
  const list = texts.length === 1 ? only : `[${texts.join(", ")}]`;
  return new StatusError(422, "Invalid", `${qualifiedKind(resource)} "${name}" is invalid: ${list}`, {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    ...(resource.kind === "" ? {} : { kind: resource.kind }),
    causes: causes.map((cause) => ({ ...cause })),
  });
}

/** 400 BadRequest. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

/** 403 Forbidden. */
export function forbidden(
  resource: ResourceName,
  name: string,
  why: string,
  causes: readonly Cause[] = [],
): StatusError {
  const shown = name === "" ? qualifiedResource(resource) : `${qualifiedResource(resource)} "${name}"`;
  return new StatusError(403, "Forbidden", `${shown} is forbidden: ${why}`, {
    ...resourceDetails(resource, name),
    ...(causes.length === 0 ? {} : { causes: causes.map((cause) => ({ ...cause })) }),
  });
}

/** 405 for a verb that a resource does not serve. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

/** 410 Expired: a resourceVersion older than the history. */
export function expired(requested: number, oldest: number): StatusError {
  return new StatusError(410, "Expired", `too old resource version: ${requested} (${oldest})`);
}

/** 410 for a list at an exact version that is no longer in the history. */
export function listExpired(): StatusError {
  return new StatusError(410, "Expired", "The resourceVersion for the provided list is too old.");
}

/** 410 for a continue token whose version is no longer in the history; `token` continues with the present state. */
export function continueExpired(token: string): StatusError {
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the " +
    "continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with " +
    "the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time " +
    "the first chunk was returned and now may show up in the list.";
  return new StatusError(410, "Expired", message, undefined, {}, { continue: token });
}

/** 413 for a body above the limit. */
export function tooLarge(limitBytes: number): StatusError {
  return new StatusError(413, "RequestEntityTooLarge", `limit is ${limitBytes}`);
}

/** 415 for a body of an unsupported media type. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const list = accepted.join(", ");
  return new StatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${list}`,
  );
}

/** 500 for an unexpected error. */
export function internalError(message: string): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** The `Status` of a successful operation without an object to return. */
export function successStatus(details: JsonObject): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
