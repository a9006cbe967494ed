import type { MachineErrorCode } from "@millwright/core";
import { type ErrorCodeGroup, machineCodesIn } from "@millwright/core/driver-kit";

/**
 * Codes of operations (in capitals), reasons of rejections, and codes of token endpoints. Sources: https://cloud.google.com/compute/docs/resource-error,
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
      "RESOURCE_POOL_EXHAUSTED",
      "RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
      "STOCKOUT",
      "ZONE_RESOURCE_POOL_EXHAUSTED",
      "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
      "limitExceeded",
      "quotaExceeded",
      "stockout",
    ],
  },
  {
    code: "Unavailable",
    why: "too many requests, or a failure within Google Cloud",
    cloudCodes: [
      "INTERNAL_ERROR",
      "RATE_LIMIT_EXCEEDED",
      "RESOURCE_OPERATION_RATE_EXCEEDED",
      "backendError",
      "dailyLimitExceeded",
      "internalError",
      "rateLimitExceeded",
      "temporarily_unavailable",
      "userRateLimitExceeded",
    ],
  },
  {
    code: "Aborted",
    why: "another operation changes the same resource",
    cloudCodes: ["RESOURCE_NOT_READY", "conflict", "operationInProgress", "resourceNotReady"],
  },
  { code: "AlreadyExists", why: "the name is taken", cloudCodes: ["RESOURCE_ALREADY_EXISTS", "alreadyExists"] },
  {
    code: "Unauthenticated",
    why: "credentials that are wrong or expired",
    cloudCodes: [
      "authError",
      "invalid_client",
      "invalid_grant",
      "invalid_request",
      "invalid_scope",
      "invalid_target",
      "unauthorized_client",
    ],
  },
  {
    code: "PermissionDenied",
    why: "a role or a policy does not allow it, or the API is disabled",
    cloudCodes: [
      "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
      "PERMISSIONS_ERROR",
      "VM_EXTERNAL_IP_ACCESS_POLICY_CONSTRAINT",
      "accessNotConfigured",
      "access_denied",
      "forbidden",
      "insufficientPermissions",
    ],
  },
  {
    code: "FailedPrecondition",
    why: "another resource has to be changed first",
    cloudCodes: [
      "CONDITION_NOT_MET",
      "RESERVATION_NOT_READY",
      "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE",
      "conditionNotMet",
      "resourceInUseByAnotherResource",
    ],
  },
  {
    code: "InvalidArgument",
    why: "a value of the class, as all other codes with a status of 4xx; a missing image or subnetwork, too",
    cloudCodes: [
      "INVALID_FIELD_VALUE",
      "INVALID_RESERVATION",
      "INVALID_USAGE",
      "RESOURCE_NOT_FOUND",
      "UNSUPPORTED_OPERATION",
      "badRequest",
      "invalid",
      "required",
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
  const known = machineCodes.get(code);
  if (known !== undefined) return known;
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
