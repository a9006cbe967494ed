import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { documentedErrorCodes } from "../testing/documented-error-codes.ts";
import { errorCodeGroups, machineCodeOf } from "./error-codes.ts";

const listed = new Set(errorCodeGroups.flatMap(({ cloudCodes }) => cloudCodes));

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
  ["RequestTimeTooSkewed", 403, "Unauthenticated"],
  ["InsufficientCapacityOnHost", 400, "ResourceExhausted"],
  ["InvalidState", 400, "Aborted"],
  ["InvalidNetworkInterface.InUse", 400, "FailedPrecondition"],
  ["IdempotentInstanceTerminated", 400, "FailedPrecondition"],
  ["TransactionInProgressException", 400, "Unavailable"],
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

/** Codes that are named for a wrong value of the request: InvalidArgument by their status. Not the state of a resource, which other requests change. */
const isAboutValue = (code: string): boolean =>
  /^(Invalid|Malformed|Missing|Unknown|Unsupported)/.test(code) && !/State$|InUse$|Expired$|Exceeded$/.test(code);

it("every documented code has a row, or is about a value of the request", () => {
  expect(documentedErrorCodes.filter((code) => !listed.has(code) && !isAboutValue(code))).toEqual([]);
});

it("no code is in two rows", () => {
  expect(errorCodeGroups.flatMap(({ cloudCodes }) => cloudCodes)).toHaveLength(listed.size);
});

const resolve = createRequire(import.meta.url).resolve;

it("every code that the SDK repeats a request for has a row", async () => {
  const file = join(
    dirname(resolve("@smithy/core")),
    "../dist-es/submodules/retry/service-error-classification/constants.js",
  );
  const sdk: Readonly<Record<string, readonly string[]>> = await import(file);
  for (const list of ["THROTTLING_ERROR_CODES", "CLOCK_SKEW_ERROR_CODES", "TRANSIENT_ERROR_CODES"]) {
    const codes = sdk[list] ?? [];
    expect(codes.length, list).toBeGreaterThan(2);
    // `TimeoutError` is the SDK's own, for a request without an answer: `errors.ts` reads it before the table.
    expect(codes.filter((code) => !listed.has(code) && code !== "TimeoutError")).toEqual([]);
  }
});

it("every error that the SDK declares of STS has a row", async () => {
  const declared = Object.keys(await import(resolve("@aws-sdk/nested-clients/sts"))).filter((name) =>
    name.endsWith("Exception"),
  );
  expect(declared).toContain("ExpiredTokenException");
  expect(declared.filter((code) => code !== "STSServiceException" && !listed.has(code))).toEqual([]);
});
