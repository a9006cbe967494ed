import { expect, it } from "vitest";
import { documentedErrorCodes } from "../testing/documented-error-codes.ts";
import { errorCodeGroups, machineCodeOf } from "./error-codes.ts";

const listed = new Set(errorCodeGroups.flatMap(({ cloudCodes }) => cloudCodes));

it("every documented code has a row, but the one whose text decides", () => {
  expect(documentedErrorCodes.filter((code) => !listed.has(code))).toEqual(["OperationNotAllowed"]);
});

it("no code is in two rows", () => {
  expect(errorCodeGroups.flatMap(({ cloudCodes }) => cloudCodes)).toHaveLength(listed.size);
});

// Those that are seen over HTTP are in errors.test.ts.
it.each<[string, number, string]>([
  ["OverConstrainedAllocationRequest", 0, "ResourceExhausted"],
  ["OverconstrainedAllocationRequest", 0, "ResourceExhausted"],
  ["StorageAccountTooBusy", 0, "Unavailable"],
  ["ResourceUpdateBlockedOnPlatformUpdate", 409, "Unavailable"],
  ["RegionDoesNotAllowProvisioning", 400, "FailedPrecondition"],
  ["NoRegisteredProviderFound", 0, "InvalidArgument"],
  ["SubscriptionNotRegistered", 409, "FailedPrecondition"],
  ["SubscriptionNotAuthorizedForImage", 0, "PermissionDenied"],
  ["ConflictingUserInput", 0, "FailedPrecondition"],
  ["ResourceGroupBeingDeleted", 409, "FailedPrecondition"],
  ["SubnetsNotInSameVnet", 0, "InvalidArgument"],
])("%s with status %s is %s", (code, status, expected) => {
  expect(machineCodeOf(code, status, "because")).toBe(expected);
});
