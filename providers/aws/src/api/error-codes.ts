import type { MachineErrorCode } from "@millwright/core";

/** Codes of EC2 that mean quota or capacity: those of MCM's driver and of Karpenter (machine-controller-manager-provider-aws, `pkg/aws/errors/codes.go`). */
const exhausted: ReadonlySet<string> = new Set([
  "AddressLimitExceeded",
  "InstanceLimitExceeded",
  "InsufficientAddressCapacity",
  "InsufficientCapacity",
  "InsufficientCapacityOnOutpost",
  "InsufficientFreeAddressesInSubnet",
  "InsufficientHostCapacity",
  "InsufficientInstanceCapacity",
  "InsufficientReservedInstanceCapacity",
  "InsufficientVolumeCapacity",
  "MaxFleetCountExceeded",
  "MaxIOPSLimitExceeded",
  "MaxSpotInstanceCountExceeded",
  "NetworkInterfaceLimitExceeded",
  "ReservationCapacityExceeded",
  "RouteLimitExceeded",
  "SpotMaxPriceTooLow",
  "UnfulfillableCapacity",
  "Unsupported",
  "VcpuLimitExceeded",
  "VolumeLimitExceeded",
]);

/** Whether a code of EC2 is a lack of capacity or quota: another type or zone may have some. */
export const isCapacityCode = (code: string): boolean => exhausted.has(code);

/** Codes that reject a request for its rate (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html). */
const throttling: ReadonlySet<string> = new Set([
  "EC2ThrottledException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
]);

/** Whether a code of EC2 or STS rejects a request for its rate alone. */
export const isThrottlingCode = (code: string): boolean => throttling.has(code);

const others: Readonly<Record<string, MachineErrorCode>> = {
  AccessDenied: "PermissionDenied",
  AccessDeniedException: "PermissionDenied",
  AuthFailure: "Unauthenticated",
  "AuthFailure.ServiceLinkedRoleCreationNotPermitted": "PermissionDenied",
  Blocked: "PermissionDenied",
  CredentialsProviderError: "Unauthenticated",
  ExpiredToken: "Unauthenticated",
  ExpiredTokenException: "Unauthenticated",
  IDPCommunicationError: "Unavailable",
  IDPCommunicationErrorException: "Unavailable",
  IDPRejectedClaim: "Unauthenticated",
  IDPRejectedClaimException: "Unauthenticated",
  IdempotentParameterMismatch: "Aborted",
  IncompleteSignature: "Unauthenticated",
  IncorrectInstanceState: "Aborted",
  IncorrectState: "Aborted",
  InternalError: "Unavailable",
  InternalFailure: "Unavailable",
  InvalidClientTokenId: "Unauthenticated",
  InvalidIdentityToken: "Unauthenticated",
  InvalidIdentityTokenException: "Unauthenticated",
  "InvalidInstanceID.NotFound": "NotFound",
  InvalidUserID: "Unauthenticated",
  MissingAuthenticationToken: "Unauthenticated",
  OperationNotPermitted: "FailedPrecondition",
  OptInRequired: "FailedPrecondition",
  PendingVerification: "FailedPrecondition",
  RequestExpired: "Unauthenticated",
  RequestTimeout: "DeadlineExceeded",
  ResourceCountExceeded: "InvalidArgument",
  ServiceUnavailable: "Unavailable",
  SignatureDoesNotMatch: "Unauthenticated",
  Unavailable: "Unavailable",
  UnauthorizedOperation: "PermissionDenied",
  UnrecognizedClientException: "Unauthenticated",
};

/** The code of the contract for an answer of EC2 or STS, by its error code and its HTTP status. Nothing is Internal by default. */
export function machineCodeOf(code: string, status: number): MachineErrorCode {
  if (isCapacityCode(code)) return "ResourceExhausted";
  if (isThrottlingCode(code)) return "Unavailable";
  if (Object.hasOwn(others, code)) return others[code] ?? "Unavailable";
  // An unknown code: a server error is transient, anything else is about the request.
  if (status >= 500 || status === 429 || status === 408) return "Unavailable";
  return status >= 400 ? "InvalidArgument" : "Unavailable";
}

/** Remedies for errors of EC2 that do not name one. */
export const remedies: Readonly<Record<string, string>> = {
  AuthFailure: "check the access key and its secret in the class secret",
  InvalidClientTokenId: "check the access key in the class secret",
  OperationNotPermitted: "disable termination protection of the VM",
  OptInRequired: "accept the terms of the image in the AWS Marketplace with this account",
  RequestExpired:
    "check the clock of the machine that this controller runs on, and whether the credentials have expired",
  SignatureDoesNotMatch: "check the secret access key in the class secret",
};
