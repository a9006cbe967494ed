import type { Machine } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachine, type Change } from "../testing/builders.ts";
import { creationFailureOf, worstFailure } from "./creation-failure.ts";

const failed = (code: string, type: "Create" | "Delete" = "Create", change: Change<Machine> = {}): Machine =>
  aMachine(
    {
      status: {
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: {
          type,
          state: "Failed",
          errorCode: code,
          description: `Cloud provider message - machine codes error: code = [${code}] message = [no].`,
        },
      },
    },
    change,
  );
const heldBack = failed("Unavailable", "Create", {
  status: {
    lastOperation: {
      description:
        'Cloud provider message - machine codes error: code = [Unavailable] message = [Waiting: Secret "s" of driver "d" gets no service].',
    },
  },
});

it.each<[string, Machine, string | undefined]>([
  ["a refused credential", failed("Unauthenticated"), "CredentialRefused"],
  ["missing permissions", failed("PermissionDenied"), "CredentialRefused"],
  ["no quota", failed("ResourceExhausted"), "ResourceExhausted"],
  ["a spec that the cloud rejects", failed("InvalidArgument"), "InvalidArgument"],
  ["one call without an answer", failed("Unavailable"), undefined],
  ["calls that are held back", heldBack, "CloudUnavailable"],
  ["a name that is taken", failed("AlreadyExists"), undefined],
  ["a deletion with a refused credential", failed("Unauthenticated", "Delete"), "CredentialRefused"],
  ["a deletion that the cloud rejects", failed("InvalidArgument", "Delete"), undefined],
  [
    "a Failed machine",
    failed("ResourceExhausted", "Create", { status: { currentStatus: { phase: "Failed" } } }),
    undefined,
  ],
  [
    "a machine without a code",
    aMachine({ status: { lastOperation: { type: "Create", state: "Failed", description: "x" } } }),
    undefined,
  ],
  ["a new machine", aMachine(), undefined],
])("shows of %s: %3$s", (_, machine, expected) => {
  expect(creationFailureOf(machine)?.reason).toBe(expected);
});

it("is the same of several machines in any order", () => {
  const named = (name: string, machine: Machine): Machine => aMachine(machine, { metadata: { name } });
  const machines = [
    named("b", failed("ResourceExhausted")),
    named("c", failed("Unauthenticated")),
    named("a", failed("InvalidArgument")),
  ];
  for (const order of [machines, machines.toReversed()])
    expect(worstFailure(order)).toEqual({ reason: "CredentialRefused", message: "Unauthenticated: no" });
  expect(worstFailure([])).toBeUndefined();
});
