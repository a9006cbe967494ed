import type { MachineErrorCode } from "@millwright/core";

/** Codes of operations, and reasons of rejections, that mean capacity (machine-controller-manager-provider-gcp, `pkg/gcp/errors/errors.go`). What contains `QUOTA` means it too. */
const exhausted: ReadonlySet<string> = new Set([
  "IP_SPACE_EXHAUSTED",
  "IP_SPACE_EXHAUSTED_WITH_DETAILS",
  "RESERVATION_CAPACITY_EXCEEDED",
  "RESOURCE_POOL_EXHAUSTED",
  "RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
  "STOCKOUT",
  "ZONE_RESOURCE_POOL_EXHAUSTED",
  "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
  "limitExceeded",
  "quotaExceeded",
  "stockout",
]);

/** Whether a code of an operation, or a reason, is a lack of capacity or quota: another type or zone may have some. */
export const isCapacityCode = (code: string): boolean => exhausted.has(code) || code.includes("QUOTA");

const others: Readonly<Record<string, MachineErrorCode>> = {
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: "PermissionDenied",
  CONDITION_NOT_MET: "FailedPrecondition",
  INTERNAL_ERROR: "Unavailable",
  INVALID_FIELD_VALUE: "InvalidArgument",
  INVALID_RESERVATION: "InvalidArgument",
  PERMISSIONS_ERROR: "PermissionDenied",
  RATE_LIMIT_EXCEEDED: "Unavailable",
  RESERVATION_NOT_READY: "FailedPrecondition",
  RESOURCE_ALREADY_EXISTS: "AlreadyExists",
  RESOURCE_IN_USE_BY_ANOTHER_RESOURCE: "FailedPrecondition",
  RESOURCE_NOT_FOUND: "InvalidArgument",
  RESOURCE_NOT_READY: "Aborted",
  RESOURCE_OPERATION_RATE_EXCEEDED: "Unavailable",
  UNSUPPORTED_OPERATION: "InvalidArgument",
  VM_EXTERNAL_IP_ACCESS_POLICY_CONSTRAINT: "PermissionDenied",
  accessNotConfigured: "PermissionDenied",
  alreadyExists: "AlreadyExists",
  authError: "Unauthenticated",
  backendError: "Unavailable",
  badRequest: "InvalidArgument",
  conditionNotMet: "FailedPrecondition",
  forbidden: "PermissionDenied",
  internalError: "Unavailable",
  invalid: "InvalidArgument",
  operationInProgress: "Aborted",
  rateLimitExceeded: "Unavailable",
  required: "InvalidArgument",
  resourceInUseByAnotherResource: "FailedPrecondition",
  resourceNotReady: "Aborted",
  userRateLimitExceeded: "Unavailable",
  // Of who gives out tokens.
  access_denied: "PermissionDenied",
  invalid_client: "Unauthenticated",
  invalid_grant: "Unauthenticated",
  invalid_request: "Unauthenticated",
  invalid_scope: "Unauthenticated",
  invalid_target: "Unauthenticated",
  temporarily_unavailable: "Unavailable",
  unauthorized_client: "Unauthenticated",
};

/**
 * The code of the contract for a rejection or a failed operation, by Google's code and the HTTP status. A missing image or subnetwork is about the class; the caller detects a missing
 * VM. Nothing is Internal by default.
 */
export function machineCodeOf(code: string, status: number, message: string): MachineErrorCode {
  if (isCapacityCode(code) || isLackOfType(message) || (status === 403 && message.startsWith("Quota '"))) {
    return "ResourceExhausted";
  }
  if (Object.hasOwn(others, code)) return others[code] ?? "Unavailable";
  // An unknown code: a server error is transient, anything else is about the request.
  if (status >= 500 || status === 429 || status === 408) return "Unavailable";
  if (status === 401) return "Unauthenticated";
  if (status === 403) return "PermissionDenied";
  if (status === 409) return "Aborted";
  if (status === 412) return "FailedPrecondition";
  return status >= 400 ? "InvalidArgument" : "Unavailable";
}

/** A machine type that the zone does not offer: another zone may (as in MCM). */
const isLackOfType = (message: string): boolean => message.includes("does not exist in zone");

/** Remedies for errors of Google that do not name one. */
export function remedyOf(code: string, message: string): string | undefined {
  if (message.includes("deletionProtection") || message.includes("protected against deletion")) {
    return "disable deletion protection of the VM";
  }
  if (code === "invalid_grant" && /\biat\b|\bexp\b|timeframe/.test(message)) {
    return "check the clock of the machine that this controller runs on";
  }
  return remedies[code];
}

const remedies: Readonly<Record<string, string>> = {
  PERMISSIONS_ERROR: "grant the service account the role in the README of the driver",
  accessNotConfigured: "enable the Compute Engine API in the project",
  authError: "check the service account in the class secret",
  forbidden: "grant the service account the role in the README of the driver",
  invalid_client: "check the service account in the class secret",
  invalid_grant: "check the service account and its key in the class secret",
  invalid_target: "check the audience of the workload identity in the class secret",
};
