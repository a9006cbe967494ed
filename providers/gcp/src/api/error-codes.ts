import type { MachineErrorCode } from "@millwright/core";
import { type ErrorCodeGroup, machineCodesIn } from "@millwright/core/driver-kit";

/**
 * Codes of operations (in capitals), reasons of rejections, and codes of token endpoints. Sources: `google.rpc.Code` and `google.api.ErrorReason`, https://cloud.google.com/compute/docs/resource-error,
 * https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-vm-creation, https://developers.google.com/webmaster-tools/v1/errors (global domain), RFC 6749, section 5.2; for capacity also
 * MCM's driver (machine-controller-manager-provider-gcp, `pkg/gcp/errors/errors.go`).
 */
export const errorCodeGroups: readonly ErrorCodeGroup[] = [
  {
    code: "ResourceExhausted",
    why: "capacity, quota or addresses: another type or zone may have some; so is each code with `QUOTA`",
    cloudCodes: [
      "IP_SPACE_EXHAUSTED",
      "IP_SPACE_EXHAUSTED_WITH_DETAILS",
      "RESERVATION_CAPACITY_EXCEEDED",
      "RESOURCE_EXHAUSTED",
      "RESOURCE_POOL_EXHAUSTED",
      "RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
      "STOCKOUT",
      "ZONE_RESOURCE_POOL_EXHAUSTED",
      "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
      "insufficientCapacity",
      "limitExceeded",
      "quotaExceeded",
      "stockout",
    ],
  },
  {
    code: "Unavailable",
    why: "too many requests, or a failure within Google Cloud",
    cloudCodes: [
      "DATA_LOSS",
      "INTERNAL",
      "INTERNAL_ERROR",
      "RATE_LIMIT_EXCEEDED",
      "RESOURCE_OPERATION_RATE_EXCEEDED",
      "UNAVAILABLE",
      "UNKNOWN",
      "backendError",
      "backendNotConnected",
      "concurrentLimitExceeded",
      "dailyLimitExceeded",
      "internalError",
      "notReady",
      "rateLimitExceeded",
      "servingLimitExceeded",
      "temporarily_unavailable",
      "userRateLimitExceeded",
      "variableTermExpiredDailyExceeded",
      "variableTermLimitExceeded",
    ],
  },
  { code: "DeadlineExceeded", why: "no result in time", cloudCodes: ["DEADLINE_EXCEEDED"] },
  { code: "Canceled", why: "the operation was canceled in Google Cloud", cloudCodes: ["CANCELLED"] },
  {
    code: "Aborted",
    why: "another operation changes the same resource",
    cloudCodes: ["ABORTED", "RESOURCE_NOT_READY", "conflict", "operationInProgress", "resourceNotReady"],
  },
  {
    code: "AlreadyExists",
    why: "the name is taken",
    cloudCodes: ["ALREADY_EXISTS", "RESOURCE_ALREADY_EXISTS", "alreadyExists", "duplicate"],
  },
  {
    code: "Unauthenticated",
    why: "credentials that are wrong or expired",
    cloudCodes: [
      "ACCESS_TOKEN_EXPIRED",
      "ACCESS_TOKEN_TYPE_UNSUPPORTED",
      "ACCOUNT_STATE_INVALID",
      "ACCOUNT_TYPE_UNSUPPORTED",
      "CREDENTIALS_MISSING",
      "CREDENTIAL_TYPE_UNSUPPORTED",
      "JWT_TOKEN_INVALID",
      "OVERLOADED_CREDENTIALS",
      "UNAUTHENTICATED",
      "accountDeleted",
      "accountDisabled",
      "accountUnverified",
      "authError",
      "expired",
      "invalid_client",
      "invalid_grant",
      "invalid_request",
      "invalid_scope",
      "invalid_target",
      "unauthorized",
      "unauthorized_client",
      "unknownAuth",
    ],
  },
  {
    code: "PermissionDenied",
    why: "a role or a policy does not allow it, or the API is disabled",
    cloudCodes: [
      "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
      "ENDPOINT_USAGE_RESTRICTION_VIOLATED",
      "IAM_PERMISSION_DENIED",
      "LOCATION_ORG_POLICY_VIOLATED",
      "LOCATION_POLICY_VIOLATED",
      "LOCATION_TAX_POLICY_VIOLATED",
      "ORG_RESTRICTION_HEADER_INVALID",
      "ORG_RESTRICTION_VIOLATION",
      "PERMISSIONS_ERROR",
      "PERMISSION_DENIED",
      "RESOURCE_USAGE_RESTRICTION_VIOLATED",
      "SECURITY_POLICY_VIOLATED",
      "SERVICE_DISABLED",
      "SERVICE_NOT_VISIBLE",
      "TLS_CIPHER_RESTRICTION_VIOLATED",
      "TLS_ORG_POLICY_VIOLATED",
      "USER_BLOCKED_BY_ADMIN",
      "USER_PROJECT_DENIED",
      "VM_EXTERNAL_IP_ACCESS_POLICY_CONSTRAINT",
      "accessNotConfigured",
      "access_denied",
      "forbidden",
      "insufficientAudience",
      "insufficientAuthorizedParty",
      "insufficientPermissions",
    ],
  },
  {
    code: "FailedPrecondition",
    why: "another resource, the project or its billing account has to be changed first",
    cloudCodes: [
      "BILLING_DISABLED",
      "CONDITION_NOT_MET",
      "CONSUMER_INVALID",
      "CONSUMER_SUSPENDED",
      "FAILED_PRECONDITION",
      "GCP_SUSPENDED",
      "RESERVATION_NOT_READY",
      "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE",
      "conditionNotMet",
      "dailyLimitExceeded402",
      "preconditionRequired",
      "quotaExceeded402",
      "resourceInUseByAnotherResource",
      "user402",
    ],
  },
  {
    code: "InvalidArgument",
    why: "a value of the class, as all other codes with a status of 4xx; a missing image or subnetwork, too",
    cloudCodes: [
      "INVALID_ARGUMENT",
      "INVALID_FIELD_VALUE",
      "INVALID_RESERVATION",
      "INVALID_USAGE",
      "NOT_FOUND",
      "OUT_OF_RANGE",
      "RESOURCE_NOT_FOUND",
      "RESOURCE_PROJECT_INVALID",
      "SYSTEM_PARAMETER_UNSUPPORTED",
      "UNIMPLEMENTED",
      "UNSUPPORTED_OPERATION",
      "backendRequestTooLarge",
      "badContent",
      "badRequest",
      "deleted",
      "expectationFailed",
      "httpMethodNotAllowed",
      "invalid",
      "invalidHeader",
      "invalidParameter",
      "invalidQuery",
      "notFound",
      "notImplemented",
      "parseError",
      "required",
      "responseTooLarge",
      "sslRequired",
      "unsupportedMediaType",
      "unsupportedMethod",
    ],
  },
];

const machineCodes = machineCodesIn(errorCodeGroups);

/** Whether a code of an operation, or a reason, is a lack of capacity or quota: another type or zone may have some. */
export const isCapacityCode = (code: string): boolean =>
  machineCodes.get(code) === "ResourceExhausted" || code.includes("QUOTA");

/**
 * The code of the contract for a rejection or a failed operation, by Google's code and the HTTP status. A missing image or subnetwork is about the class; the caller detects a missing
 * VM. Nothing is Internal by default.
 */
export function machineCodeOf(code: string, status: number, message: string): MachineErrorCode {
  if (isCapacityCode(code) || isLackOfType(message) || (status === 403 && message.startsWith("Quota '"))) {
    return "ResourceExhausted";
  }
  // `required`: a value of the request, or the credentials.
  if (status === 401) return "Unauthenticated";
  const known = machineCodes.get(code);
  if (known !== undefined) return known;
  // An unknown code: a server error is transient, anything else is about the request.
  if (status >= 500 || status === 429 || status === 408) return "Unavailable";
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
  BILLING_DISABLED: "link the project to an active billing account",
  PERMISSIONS_ERROR: "grant the service account the role in the README of the driver",
  SERVICE_DISABLED: "enable the Compute Engine API in the project",
  accessNotConfigured: "enable the Compute Engine API in the project",
  authError: "check the service account in the class secret",
  forbidden: "grant the service account the role in the README of the driver",
  invalid_client: "check the service account in the class secret",
  invalid_grant: "check the service account and its key in the class secret",
  invalid_target: "check the audience of the workload identity in the class secret",
};
