import type { MachineErrorCode } from "@millwright/core";
import { type ErrorCodeGroup, machineCodesIn } from "@millwright/core/driver-kit";

/**
 * Error codes of Azure Resource Manager and of the resource providers for what the driver requests. Sources: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors,
 * https://learn.microsoft.com/troubleshoot/azure/virtual-machines/windows/error-messages, and for capacity also MCM's driver (machine-controller-manager-provider-azure, `pkg/azure/access/errors/errors.go`).
 */
export const errorCodeGroups: readonly ErrorCodeGroup[] = [
  {
    code: "ResourceExhausted",
    why: "capacity, quota or addresses: another size or zone may have some",
    cloudCodes: [
      "AllocationFailed",
      "OverConstrainedAllocationRequest",
      "OverconstrainedAllocationRequest",
      "OverconstrainedZonalAllocationRequest",
      "PublicIPCountLimitReached",
      "QuotaExceeded",
      "ResourceQuotaExceeded",
      "SkuNotAvailable",
      "SubnetIsFull",
      "ZonalAllocationFailed",
    ],
  },
  {
    code: "Unavailable",
    why: "too many requests, or a failure within Azure",
    cloudCodes: [
      "AcquireDiskLeaseFailed",
      "DiagnosticsOperationInternalError",
      "DiskImageNotReady",
      "DiskPreparationError",
      "DiskProcessingError",
      "Failed",
      "InternalDiskManagementError",
      "InternalExecutionError",
      "InternalOperationError",
      "InternalServerError",
      "NetworkNotReady",
      "NetworkingInternalOperationError",
      "NicReservedForAnotherVm",
      "OSProvisioningInternalError",
      "ResourceUpdateBlockedOnPlatformUpdate",
      "ServiceUnavailable",
      "StorageAccountOperationInternalError",
      "StorageAccountTooBusy",
      "StorageFailure",
      "SubscriptionRequestsThrottled",
      "TooManyRequests",
      "VMAgentStatusCommunicationError",
    ],
  },
  { code: "DeadlineExceeded", why: "no result in time", cloudCodes: ["OSProvisioningTimedOut", "VMStartTimedOut"] },
  {
    code: "Aborted",
    why: "another operation changes the same resource",
    cloudCodes: [
      "AnotherOperationInProgress",
      "AttachDiskWhileBeingDetached",
      "CanceledAndSupersededDueToAnotherOperation",
      "Conflict",
      "NicInUse",
      "OperationPreempted",
      "PreconditionFailed",
      "RetryableError",
      "RetryableErrorDueToAnotherOperation",
    ],
  },
  { code: "Canceled", why: "the operation was canceled in Azure", cloudCodes: ["Canceled"] },
  {
    code: "Unauthenticated",
    why: "credentials that are wrong or expired, or another subscription",
    cloudCodes: [
      "AuthenticationFailed",
      "ExpiredAuthenticationToken",
      "InvalidAuthenticationToken",
      "InvalidAuthenticationTokenTenant",
      "SubscriptionNotFound",
    ],
  },
  {
    code: "PermissionDenied",
    why: "a role or a policy does not allow it",
    cloudCodes: [
      "AuthorizationFailed",
      "LinkedAuthorizationFailed",
      "RequestDisallowedByPolicy",
      "SubscriptionNotAuthorizedForImage",
    ],
  },
  {
    code: "FailedPrecondition",
    why: "the subscription, a key vault, or another resource has to be changed first",
    cloudCodes: [
      "CertificateImproperlyFormatted",
      "ConflictingUserInput",
      "DiskBlobAlreadyInUseByAnotherDisk",
      "DiskEncryptionKeySecretMissingTags",
      "DiskEncryptionKeySecretUnwrapFailed",
      "InvalidSubscriptionRegistrationState",
      "KeyVaultAccessForbidden",
      "MarketplacePurchaseEligibilityFailed",
      "MissingRegistrationForLocation",
      "MissingSubscriptionRegistration",
      "PropertyChangeNotAllowed",
      "ReadOnlyDisabledSubscription",
      "RegionDoesNotAllowProvisioning",
      "ResourceGroupBeingDeleted",
      "ResourcePurchaseValidationFailed",
      "ScopeLocked",
      "StorageAccountLimitation",
      "SubscriptionNotRegistered",
    ],
  },
  {
    code: "InvalidArgument",
    why: "a value of the class, as all other codes with a status of 4xx, and of failed operations",
    cloudCodes: [
      "BadRequest",
      "DiskBlobNotFound",
      "ImageBlobNotFound",
      "ImageNotFound",
      "IncorrectDiskBlobType",
      "IncorrectImageBlobType",
      "InvalidAccountType",
      "InvalidParameter",
      "InvalidRequestContent",
      "InvalidRequestFormat",
      "InvalidResourceLocation",
      "InvalidResourceNamespace",
      "InvalidResourceReference",
      "InvalidResourceType",
      "LinkedInvalidPropertyId",
      "LocationRequired",
      "MismatchingResourceSegments",
      "NoRegisteredProviderFound",
      "NotFound",
      "NotSupported",
      "OSProvisioningClientError",
      "ParentResourceNotFound",
      "PasswordTooLong",
      "PlatformImageNotFound",
      "PrivateIPAddressInReservedRange",
      "PrivateIPAddressNotInSubnet",
      "ReservedResourceName",
      "ResourceGroupNotFound",
      "ResourceNotFound",
      "StorageAccountLocationMismatch",
      "StorageAccountNotFound",
      "StorageAccountNotRecognized",
      "StorageAccountSubscriptionMismatch",
      "StorageAccountTypeNotSupported",
      "SubnetsNotInSameVnet",
      "VHDSizeInvalid",
      "VMMarketplaceInvalidInput",
      "VMNotFound",
    ],
  },
];

const machineCodes = machineCodesIn(errorCodeGroups);

const quotaText = /exceeding.*quota|quota.*(exceeded|reached)|lowprioritycores/i;

/** The code of the contract for an answer of Azure, by its error code, its HTTP status and, where Azure uses one code for several things, its text. Nothing is Internal by default. */
export function machineCodeOf(code: string, status: number, message: string): MachineErrorCode {
  // Azure's codes for half of everything; the texts are those that MCM's driver looks for.
  if (code === "OperationNotAllowed") return quotaText.test(message) ? "ResourceExhausted" : "FailedPrecondition";
  if (code === "BadRequest" && /not\s+supported/i.test(message)) return "ResourceExhausted";
  return machineCodes.get(code) ?? (status >= 400 ? codeOfStatus(status) : codeOfOperation(code));
}

/** The code for an HTTP status, where the error code of Azure is unknown. */
function codeOfStatus(status: number): MachineErrorCode {
  if (status >= 500 || status === 429 || status === 408) return "Unavailable";
  if (status === 401) return "Unauthenticated";
  if (status === 403) return "PermissionDenied";
  if (status === 409 || status === 412) return "Aborted";
  // A missing image or subnet is about what was asked for: NotFound is for the VM itself.
  return "InvalidArgument";
}

/**
 * The code for a failed operation with an unknown error code: it has no status of its own. Unless the code itself is about Azure, it is about the request: each attempt makes a VM, and deletes it
 * again.
 */
const codeOfOperation = (code: string): MachineErrorCode =>
  code === "" || /internal|unavailable|time(d)?_?out|throttl|retry|not_?ready/i.test(code)
    ? "Unavailable"
    : "InvalidArgument";

const giveRole = 'give the application of key "clientID" the role that the README of the driver shows';

/** The remedy for an error of Azure that does not name one. */
export function remedyOf(code: string, message: string): string | undefined {
  if (code !== "MissingSubscriptionRegistration") return remedies[code];
  const [, namespace = "Microsoft.Compute"] = /namespace '([\w.]{1,64})'/.exec(message) ?? [];
  return `run "az provider register --namespace ${namespace}" for this subscription`;
}

const remedies: Readonly<Record<string, string>> = {
  AuthorizationFailed: giveRole,
  KeyVaultAccessForbidden:
    "give the disk encryption set, or the identity of the VM, access to the key in the key vault",
  LinkedAuthorizationFailed: giveRole,
  MarketplacePurchaseEligibilityFailed: "accept the terms of the image for this subscription",
  ScopeLocked: "remove the lock from the resource or its resource group",
  SubscriptionNotFound: 'check key "subscriptionID" of the class secret',
};
