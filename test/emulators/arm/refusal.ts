import { type EmulatorReply, EmulatorRefusal, type Refusal } from "../server/index.ts";

/** An error response of ARM. Thrown before any change. */
export class ArmRefusal extends EmulatorRefusal {}

/** Codes that do not come with status 400. */
const statuses: Readonly<Record<string, number>> = {
  AllocationFailed: 409,
  AttachDiskWhileBeingDetached: 409,
  AuthorizationFailed: 403,
  Conflict: 409,
  InternalServerError: 500,
  InvalidAuthenticationToken: 401,
  InvalidResourceType: 404,
  LinkedAuthorizationFailed: 403,
  NotFound: 404,
  OperationNotAllowed: 409,
  OverconstrainedZonalAllocationRequest: 409,
  PlatformImageNotFound: 404,
  PreconditionFailed: 412,
  PropertyChangeNotAllowed: 409,
  ResourceGroupNotFound: 404,
  ResourceNotFound: 404,
  ServiceUnavailable: 503,
  SkuNotAvailable: 409,
  SubscriptionNotFound: 404,
  TooManyRequests: 429,
  ZonalAllocationFailed: 409,
};

/** The response of an error in ARM's format. */
export function refusalReply({ code, status, message, retryAfterS }: Refusal): EmulatorReply {
  return {
    status: status ?? statuses[code] ?? 400,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "x-ms-error-code": code,
      ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    },
    body: JSON.stringify({ error: { code, message: message ?? `the emulator is configured to respond with ${code}` } }),
  };
}
