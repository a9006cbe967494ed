import type { MachineErrorCode } from "@millwright/core";

/** Codes of ARM that mean quota or capacity: those of MCM's driver and others that were seen (machine-controller-manager-provider-azure, `pkg/azure/access/errors/errors.go`). */
const exhausted: ReadonlySet<string> = new Set([
  "AllocationFailed",
  "OverconstrainedAllocationRequest",
  "OverconstrainedZonalAllocationRequest",
  "PublicIPCountLimitReached",
  "QuotaExceeded",
  "ResourceQuotaExceeded",
  "SkuNotAvailable",
  "SubnetIsFull",
  "ZonalAllocationFailed",
]);

const others: Readonly<Record<string, MachineErrorCode>> = {
  AnotherOperationInProgress: "Aborted",
  AttachDiskWhileBeingDetached: "Aborted",
  AuthenticationFailed: "Unauthenticated",
  AuthorizationFailed: "PermissionDenied",
  Canceled: "Canceled",
  CanceledAndSupersededDueToAnotherOperation: "Aborted",
  Conflict: "Aborted",
  ExpiredAuthenticationToken: "Unauthenticated",
  InvalidAuthenticationToken: "Unauthenticated",
  InvalidAuthenticationTokenTenant: "Unauthenticated",
  InternalExecutionError: "Unavailable",
  InternalOperationError: "Unavailable",
  InternalServerError: "Unavailable",
  LinkedAuthorizationFailed: "PermissionDenied",
  MarketplacePurchaseEligibilityFailed: "FailedPrecondition",
  NetworkingInternalOperationError: "Unavailable",
  NicInUse: "Aborted",
  NicReservedForAnotherVm: "Unavailable",
  OperationPreempted: "Aborted",
  OSProvisioningTimedOut: "DeadlineExceeded",
  OSProvisioningClientError: "InvalidArgument",
  OSProvisioningInternalError: "Unavailable",
  PreconditionFailed: "Aborted",
  PropertyChangeNotAllowed: "FailedPrecondition",
  ReadOnlyDisabledSubscription: "FailedPrecondition",
  RequestDisallowedByPolicy: "PermissionDenied",
  ResourcePurchaseValidationFailed: "FailedPrecondition",
  RetryableError: "Aborted",
  RetryableErrorDueToAnotherOperation: "Aborted",
  ScopeLocked: "FailedPrecondition",
  StorageFailure: "Unavailable",
  SubscriptionNotFound: "Unauthenticated",
  SubscriptionRequestsThrottled: "Unavailable",
  TooManyRequests: "Unavailable",
  VMStartTimedOut: "DeadlineExceeded",
};

const quotaText = /exceeding.*quota|quota.*(exceeded|reached)|lowprioritycores/i;

/** The code of the contract for an answer of Azure, by its error code, its HTTP status and, where Azure uses one code for several things, its text. Nothing is Internal by default. */
export function machineCodeOf(code: string, status: number, message: string): MachineErrorCode {
  if (exhausted.has(code)) return "ResourceExhausted";
  // Azure's codes for half of everything; the texts are those that MCM's driver looks for.
  if (code === "OperationNotAllowed") return quotaText.test(message) ? "ResourceExhausted" : "FailedPrecondition";
  if (code === "BadRequest" && /not\s+supported/i.test(message)) return "ResourceExhausted";
  return Object.hasOwn(others, code) ? (others[code] ?? "Unavailable") : codeOfStatus(status);
}

/** The code for an HTTP status, where the error code of Azure is unknown. */
function codeOfStatus(status: number): MachineErrorCode {
  if (status >= 500 || status === 429 || status === 408) return "Unavailable";
  if (status === 401) return "Unauthenticated";
  if (status === 403) return "PermissionDenied";
  if (status === 409 || status === 412) return "Aborted";
  // A missing image or subnet is about what was asked for: NotFound is for the VM itself.
  return status >= 400 ? "InvalidArgument" : "Unavailable";
}

const giveRole = 'give the application of key "clientID" the role that the README of the driver shows';

/** Remedies for errors of Azure that do not name one. */
export const remedies: Readonly<Record<string, string>> = {
  AuthorizationFailed: giveRole,
  LinkedAuthorizationFailed: giveRole,
  MarketplacePurchaseEligibilityFailed: "accept the terms of the image for this subscription",
  ScopeLocked: "remove the lock from the resource or its resource group",
  SubscriptionNotFound: 'check key "subscriptionID" of the class secret',
};
