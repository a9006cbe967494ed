import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { documentedErrorCodes } from "../testing/documented-error-codes.ts";
import { errorCodeGroups, isCapacityCode, machineCodeOf } from "./error-codes.ts";
import { readFailure } from "./gce-failure.ts";

const listed = new Set(errorCodeGroups.flatMap(({ cloudCodes }) => cloudCodes));
const hasRow = (code: string): boolean => listed.has(code) || isCapacityCode(code);

/** The constants of an enumeration in the API definitions that the SDK has. */
async function constantsOf(file: string): Promise<readonly string[]> {
  const protos = join(dirname(createRequire(import.meta.url).resolve("google-gax")), "../protos/google");
  const text = await readFile(join(protos, file), "utf8");
  return [...text.matchAll(/^ {2}([A-Z_]+) = \d+;/gm)].map(([, name = ""]) => name);
}

it("every documented reason has a row", () => {
  expect(documentedErrorCodes.filter((code) => !hasRow(code))).toEqual([]);
});

it("no code is in two rows", () => {
  expect(errorCodeGroups.flatMap(({ cloudCodes }) => cloudCodes)).toHaveLength(listed.size);
});

it("every code of google.rpc.Code has a row", async () => {
  const codes = await constantsOf("rpc/code.proto");
  expect(codes).toContain("FAILED_PRECONDITION");
  expect(codes.filter((code) => code !== "OK" && !hasRow(code))).toEqual([]);
});

it("every reason of google.api.ErrorReason has a row, but those for credentials that the driver never sends", async () => {
  const reasons = await constantsOf("api/error_reason.proto");
  expect(reasons).toContain("SERVICE_DISABLED");
  const foreign = /^(API_KEY|CREDENTIAL_ANDROID|ERROR_REASON|MCP|MISSING_ORIGIN|SESSION_COOKIE)/;
  expect(reasons.filter((reason) => !foreign.test(reason) && !hasRow(reason))).toEqual([]);
});

// Those that are seen over HTTP are in errors.test.ts.
it.each<[string, number, string]>([
  ["insufficientCapacity", 503, "ResourceExhausted"],
  ["FAILED_PRECONDITION", 400, "FailedPrecondition"],
  ["DEADLINE_EXCEEDED", 504, "DeadlineExceeded"],
  ["CANCELLED", 499, "Canceled"],
  ["BILLING_DISABLED", 403, "FailedPrecondition"],
  ["accountDisabled", 403, "Unauthenticated"],
  ["servingLimitExceeded", 403, "Unavailable"],
  ["notImplemented", 501, "InvalidArgument"],
  ["required", 400, "InvalidArgument"],
  ["required", 401, "Unauthenticated"],
])("%s with status %s is %s", (code, status, expected) => {
  expect(machineCodeOf(code, status, "because")).toBe(expected);
});

it.each([
  ["RATE_LIMIT_EXCEEDED", "Unavailable"],
  ["RESOURCE_QUOTA_EXCEEDED", "ResourceExhausted"],
])("of an answer without errors the reason counts, not its status: %s is %s", (reason, expected) => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.Help" },
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason },
  ];
  const body = JSON.stringify({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "because", details } });
  const failure = readFailure(429, new Headers(), body);
  expect(machineCodeOf(failure.reason, failure.status, failure.message)).toBe(expected);
});
