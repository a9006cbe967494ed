import { expect, it } from "vitest";
import { machineCodeOf } from "./error-codes.ts";

// Those that are seen over HTTP are in errors.test.ts.
it.each<[string, number, string]>([
  ["InsufficientCapacityOnOutpost", 400, "ResourceExhausted"],
  ["InsufficientHostCapacity", 500, "ResourceExhausted"],
  ["InsufficientReservedInstanceCapacity", 400, "ResourceExhausted"],
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
