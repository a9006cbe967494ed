import type { MachineErrorCode } from "@millwright/core";
import { type ErrorCodeGroup, machineCodesIn } from "@millwright/core/driver-kit";

/**
 * Error codes of EC2 and STS for what the driver requests. Sources: Amazon EC2 API Reference, "Error codes for the Amazon EC2 API"; AWS Security Token Service API Reference, "Common Errors"; for
 * capacity also MCM's driver (machine-controller-manager-provider-aws, `pkg/aws/errors/codes.go`) and Karpenter. Codes of the SDK are among them.
 */
const capacity: ErrorCodeGroup = {
  code: "ResourceExhausted",
  why: "capacity, quota or addresses: another type or subnet may have some",
  cloudCodes: [
    "AddressLimitExceeded",
    "HostLimitExceeded",
    "IncompatibleHostRequirements",
    "InstanceLimitExceeded",
    "InsufficientAddressCapacity",
    "InsufficientCapacity",
    "InsufficientCapacityOnHost",
    "InsufficientCapacityOnOutpost",
    "InsufficientCidrBlocks",
    "InsufficientFreeAddressesInSubnet",
    "InsufficientHostCapacity",
    "InsufficientInstanceCapacity",
    "InsufficientReservedInstanceCapacity",
    "InsufficientReservedInstancesCapacity",
    "InsufficientVolumeCapacity",
    "MaxFleetCountExceeded",
    "MaxIOPSLimitExceeded",
    "MaxSpotInstanceCountExceeded",
    "NetworkInterfaceLimitExceeded",
    "ReservationCapacityExceeded",
    "ResourceLimitExceeded",
    "RouteLimitExceeded",
    "SpotMaxPriceTooLow",
    "UnavailableHostRequirements",
    "UnfulfillableCapacity",
    "Unsupported",
    "VcpuLimitExceeded",
    "VolumeLimitExceeded",
    "VolumeTypeNotAvailableInZone",
  ],
};

/** Source: AWS SDKs and Tools Reference Guide, "Retry behavior". */
const throttling: ErrorCodeGroup = {
  code: "Unavailable",
  why: "too many requests",
  cloudCodes: [
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "LimitExceededException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestResourceCountExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
  ],
};

/** All codes that are not read from the status of the answer, for the README. */
export const errorCodeGroups: readonly ErrorCodeGroup[] = [
  capacity,
  throttling,
  {
    code: "Unavailable",
    why: "a failure within AWS, or of a service that it calls",
    cloudCodes: [
      "IDPCommunicationError",
      "IDPCommunicationErrorException",
      "InternalError",
      "InternalFailure",
      "ServiceUnavailable",
      "Unavailable",
    ],
  },
  { code: "DeadlineExceeded", why: "no answer in time", cloudCodes: ["RequestTimeout", "RequestTimeoutException"] },
  {
    code: "Aborted",
    why: "another request changes the same resource",
    cloudCodes: [
      "ConcurrentTagAccess",
      "CreditSpecificationUpdateInProgress",
      "IdempotentParameterMismatch",
      "IncorrectInstanceState",
      "IncorrectState",
      "InvalidInstanceState",
      "InvalidState",
    ],
  },
  {
    code: "Unauthenticated",
    why: "credentials that are wrong, expired, or not yet valid",
    cloudCodes: [
      "AuthFailure",
      "CredentialsProviderError",
      "ExpiredToken",
      "ExpiredTokenException",
      "IDPRejectedClaim",
      "IDPRejectedClaimException",
      "IncompleteSignature",
      "InvalidClientTokenId",
      "InvalidIdentityToken",
      "InvalidIdentityTokenException",
      "InvalidSecurity.RequestHasExpired",
      "InvalidSignatureException",
      "InvalidUserID",
      "MissingAuthenticationToken",
      "RequestExpired",
      "RequestInTheFuture",
      "RequestTimeTooSkewed",
      "SignatureDoesNotMatch",
      "UnrecognizedClientException",
    ],
  },
  {
    code: "PermissionDenied",
    why: "the credentials may not do it",
    cloudCodes: [
      "AccessDenied",
      "AccessDeniedException",
      "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
      "Blocked",
      "NotAuthorized",
      "UnauthorizedOperation",
    ],
  },
  {
    code: "FailedPrecondition",
    why: "the account or the VM has to be changed first",
    cloudCodes: [
      "AccountDisabled",
      "CustomerKeyHasBeenRevoked",
      "OperationNotPermitted",
      "OptInRequired",
      "PendingVerification",
      "RegionDisabledException",
    ],
  },
  {
    code: "FailedPrecondition",
    why: "another VM has the address, interface, volume or host, or the token of this creation stands for a terminated VM: the next attempt has another",
    cloudCodes: [
      "DependencyViolation",
      "IdempotentInstanceTerminated",
      "InvalidDevice.InUse",
      "InvalidHostState",
      "InvalidIPAddress.InUse",
      "InvalidNetworkInterface.InUse",
      "Resource.AlreadyAssigned",
      "Resource.AlreadyAssociated",
      "VolumeInUse",
    ],
  },
  { code: "NotFound", why: "the VM does not exist", cloudCodes: ["InvalidInstanceID.NotFound"] },
  {
    code: "InvalidArgument",
    why: "a value of the class, as all other codes with a status of 4xx",
    cloudCodes: [
      "AttachmentLimitExceeded",
      "BootForVolumeTypeUnsupported",
      "DefaultVpcDoesNotExist",
      "EncryptedVolumesNotSupported",
      "FilterLimitExceeded",
      "InstanceCreditSpecification.NotSupported",
      "InvalidAMIID.NotFound",
      "InvalidAMIID.Unavailable",
      "InvalidBlockDeviceMapping",
      "InvalidGroup.NotFound",
      "InvalidInterface.IpAddressLimitExceeded",
      "InvalidKeyPair.NotFound",
      "InvalidParameterCombination",
      "InvalidParameterValue",
      "InvalidSnapshot.NotFound",
      "InvalidSubnetID.NotFound",
      "MalformedPolicyDocumentException",
      "MissingParameter",
      "NoSuchVersion",
      "NonEBSInstance",
      "PackedPolicyTooLargeException",
      "PrivateIpAddressLimitExceeded",
      "ResourceCountExceeded",
      "SecurityGroupLimitExceeded",
      "SecurityGroupsPerInstanceLimitExceeded",
      "SecurityGroupsPerInterfaceLimitExceeded",
      "TagLimitExceeded",
      "TagPolicyViolation",
      "VPCIdNotSpecified",
      "VPCResourceNotSpecified",
      "ValidationError",
      "VolumeIOPSLimit",
      "ZonesMismatched",
    ],
  },
];

const machineCodes = machineCodesIn(errorCodeGroups);

/** Some requests for a subnet without addresses have a general code: only the text shows why. */
const isLackOfAddresses = (message: string): boolean =>
  /(\bnot|n't) (have )?(enough|sufficient) free .*(addresses|prefixes|cidr blocks)/i.test(message);

/** Whether a code of EC2 is a lack of capacity or quota: another type or zone may have some. */
export const isCapacityCode = (code: string): boolean => machineCodes.get(code) === "ResourceExhausted";

/** Whether a code of EC2 or STS rejects a request for its rate alone. */
export const isThrottlingCode = (code: string): boolean => throttling.cloudCodes.includes(code);

/** The code of the contract for an answer of EC2 or STS, by its error code, its HTTP status and its text. Nothing is Internal by default. */
export function machineCodeOf(code: string, status: number, message = ""): MachineErrorCode {
  if (isLackOfAddresses(message)) return "ResourceExhausted";
  const known = machineCodes.get(code);
  if (known !== undefined) return known;
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
  ...Object.fromEntries(
    ["InvalidSecurity.RequestHasExpired", "RequestExpired", "RequestInTheFuture", "RequestTimeTooSkewed"].map(
      (code) => [
        code,
        "check the clock of the machine that this controller runs on, and whether the credentials have expired",
      ],
    ),
  ),
  CustomerKeyHasBeenRevoked: "give the principal access to the key of the volumes again, or change it in the class",
  RegionDisabledException: "activate STS in the region for this account",
  SignatureDoesNotMatch: "check the secret access key in the class secret",
};
