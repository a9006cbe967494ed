import { type EmulatorReply, EmulatorRefusal, type Refusal } from "../server/index.ts";

/** An error response of Compute Engine. Thrown by actions before any change. `code` is Google's reason. */
export class GceRefusal extends EmulatorRefusal {}

/** The error for a reference that does not exist. */
export const notFound = (path: string): GceRefusal =>
  new GceRefusal("notFound", `The resource '${path}' was not found`);

/** The error for an invalid value. */
export const invalidValue = (field: string, value: string, why: string): GceRefusal =>
  new GceRefusal("invalid", `Invalid value for field '${field}': '${value}'. ${why}`);

/** Reasons that do not come with status 400. */
const statuses: Readonly<Record<string, number>> = {
  accessNotConfigured: 403,
  alreadyExists: 409,
  authError: 401,
  backendError: 503,
  forbidden: 403,
  internalError: 500,
  notFound: 404,
  quotaExceeded: 403,
  rateLimitExceeded: 403,
};

const domains: Readonly<Record<string, string>> = {
  quotaExceeded: "usageLimits",
  rateLimitExceeded: "usageLimits",
};

/** Names of statuses in google.rpc. */
const rpcStatuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ALREADY_EXISTS",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

/** A JSON response. */
export const jsonReply = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): EmulatorReply => ({
  status,
  headers: { "content-type": "application/json; charset=UTF-8", ...headers },
  body: JSON.stringify(body),
});

/** The response of an error in Compute Engine's format. */
export function refusalReply({ code, status, message, retryAfterS }: Refusal): EmulatorReply {
  const httpStatus = status ?? statuses[code] ?? 400;
  const text = message ?? `the emulator is configured to respond with ${code}`;
  const isThrottled = code === "rateLimitExceeded";
  return jsonReply(
    httpStatus,
    {
      error: {
        code: httpStatus,
        message: text,
        errors: [{ message: text, domain: domains[code] ?? "global", reason: code }],
        ...(isThrottled
          ? {
              status: rpcStatuses[httpStatus] ?? "UNKNOWN",
              details: [
                {
                  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                  reason: "RATE_LIMIT_EXCEEDED",
                  domain: "googleapis.com",
                  metadata: { service: "compute.googleapis.com" },
                },
              ],
            }
          : {}),
      },
    },
    retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) },
  );
}
