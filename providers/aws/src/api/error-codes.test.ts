import { expect, it } from "vitest";
import { machineCodeOf } from "./error-codes.ts";

// Those that are seen over HTTP are in errors.test.ts.
it.each<[string, number, string]>([
  ["InsufficientCapacityOnOutpost", 400, "ResourceExhausted"],
  ["InsufficientHostCapacity", 500, "ResourceExhausted"],
  ["InsufficientReservedInstanceCapacity", 400, "ResourceExhausted"],
  ["InsufficientCidrBlocks", 400, "ResourceExhausted"],
  ["VolumeTypeNotAvailableInZone", 400, "ResourceExhausted"],
  ["ConcurrentTagAccess", 400, "Aborted"],
  ["AccountDisabled", 400, "FailedPrecondition"],
  ["MaxFleetCountExceeded", 400, "ResourceExhausted"],
  ["UnfulfillableCapacity", 500, "ResourceExhausted"],
  ["AuthFailure.ServiceLinkedRoleCreationNotPermitted", 403, "PermissionDenied"],
  ["EC2ThrottledException", 400, "Unavailable"],
  ["ExpiredToken", 400, "Unauthenticated"],
  ["ExpiredTokenException", 400, "Unauthenticated"],
  ["InvalidInstanceID.NotFound", 400, "NotFound"],
  ["InvalidNetworkInterfaceID.NotFound", 400, "InvalidArgument"],
  ["RequestTimeout", 400, "DeadlineExceeded"],
  ["ServiceUnavailable", 503, "Unavailable"],
  ["Throttling", 400, "Unavailable"],
  ["constructor", 400, "InvalidArgument"],
  ["unheard of", 429, "Unavailable"],
  ["unheard of", 500, "Unavailable"],
  ["unheard of", 418, "InvalidArgument"],
])("%s with status %s is %s", (code, status, expected) => {
  expect(machineCodeOf(code, status)).toBe(expected);
});

it.each([
  "There aren't sufficient free Ipv4 addresses or prefixes in subnet 'subnet-1'",
  "The subnet does not have enough free addresses to satisfy the request.",
])("a general code with the text %s is a lack of addresses", (message) => {
  expect(machineCodeOf("InvalidParameterValue", 400, message)).toBe("ResourceExhausted");
});
