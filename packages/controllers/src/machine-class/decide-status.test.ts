import { annotationKeys, type MachineClass } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineClass, type Change } from "../testing/builders.ts";
import { type ClassStatusSnapshot, decideClassStatus } from "./decide-status.ts";

const { classStatus, classStatusSince, classStatusMessage, unknownKeys } = annotationKeys;
const now = new Date("2026-01-01T12:00:00Z");
const anHourAgo = "2026-01-01T11:00:00Z";
const quota = {
  reason: "ResourceExhausted",
  message: "ResourceExhausted: no quota, request 0123456789abcdef0",
} as const;
const recorded = (status: string, message?: string): Change<MachineClass> => ({
  metadata: {
    creationTimestamp: anHourAgo,
    annotations: {
      [classStatus]: status,
      [classStatusSince]: anHourAgo,
      ...(message === undefined ? {} : { [classStatusMessage]: message }),
    },
  },
});

const decide = (change: Change<MachineClass>, more: Partial<ClassStatusSnapshot> = {}) =>
  decideClassStatus(
    {
      machineClass: aMachineClass(change),
      problem: undefined,
      failure: undefined,
      unknownKeys: "",
      reportedKeys: "",
      lastFailureAt: 0,
      ...more,
    },
    now,
  );
const written = (...input: Parameters<typeof decide>) => decide(...input).actions[0]?.annotations;

describe("the status of a class", () => {
  it.each<[string, Change<MachineClass>, Partial<ClassStatusSnapshot>, object | undefined]>([
    ["nothing recorded", {}, {}, { [classStatus]: "Ready", [classStatusSince]: "2026-01-01T12:00:00Z" }],
    ["the same", recorded("Ready"), {}, undefined],
    [
      "the same failure with another id",
      recorded("ResourceExhausted", "ResourceExhausted: no quota, request fedcba98765432100"),
      { failure: quota },
      undefined,
    ],
    [
      "another message",
      recorded("ResourceExhausted", "x"),
      { failure: quota },
      { [classStatusMessage]: quota.message },
    ],
    [
      "a failure",
      recorded("Ready"),
      { failure: quota },
      {
        [classStatus]: "ResourceExhausted",
        [classStatusSince]: "2026-01-01T12:00:00Z",
        [classStatusMessage]: quota.message,
      },
    ],
    [
      "a problem of the class, which comes first",
      recorded("ResourceExhausted", quota.message),
      { failure: quota, problem: { reason: "InvalidMachineClass", problem: "x".repeat(2_000) } },
      {
        [classStatus]: "InvalidMachineClass",
        [classStatusSince]: "2026-01-01T12:00:00Z",
        [classStatusMessage]: `${"x".repeat(1_000)}…`,
      },
    ],
    [
      "a failure that has just ended",
      recorded("ResourceExhausted", "x"),
      { lastFailureAt: now.getTime() - 1_000 },
      undefined,
    ],
    [
      "a failure that ended long ago",
      recorded("ResourceExhausted", "x"),
      { lastFailureAt: now.getTime() - 200_000 },
      { [classStatus]: "Ready", [classStatusSince]: "2026-01-01T12:00:00Z", [classStatusMessage]: null },
    ],
    [
      "a problem of the class that was fixed",
      recorded("InvalidMachineClass", "x"),
      { lastFailureAt: now.getTime() },
      { [classStatus]: "Ready", [classStatusSince]: "2026-01-01T12:00:00Z", [classStatusMessage]: null },
    ],
    ["a deleted class", { metadata: { deletionTimestamp: anHourAgo } }, { failure: quota }, undefined],
    ["unknown keys", recorded("Ready"), { unknownKeys: "providerSpec.a" }, { [unknownKeys]: "providerSpec.a" }],
  ])("with %s", (_, change, more, expected) => {
    expect(written(change, more)).toEqual(expected);
  });

  it("of a copy is that of its own", () => {
    const copy = aMachineClass(recorded("Ready"), { metadata: { creationTimestamp: "2026-01-01T11:30:00Z" } });
    expect(written(copy)).toEqual({ [classStatusSince]: "2026-01-01T12:00:00Z" });
    const undated = aMachineClass(recorded("Ready"), { metadata: { creationTimestamp: null } });
    expect(written(undated)).toBeUndefined();
  });

  it("is looked at again when a failure may count as over", () => {
    const { requeueAfterMs } = decide(recorded("ResourceExhausted"), { lastFailureAt: now.getTime() - 1_000 });
    expect(requeueAfterMs).toBe(119_000);
  });

  it("comes with one event about unknown keys", () => {
    const reasons = (reportedKeys: string) =>
      decide(recorded("Ready"), { unknownKeys: "providerSpec.a", reportedKeys }).because.map(({ message }) => message);
    expect(reasons("")).toEqual(['Driver "mock" ignores keys that it does not know: providerSpec.a']);
    expect(reasons("providerSpec.a")).toEqual([]);
  });
});
