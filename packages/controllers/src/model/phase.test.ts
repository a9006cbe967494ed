import { describe, expect, it, test } from "vitest";
import { aMachine, beingDeleted, inPhase } from "../testing/builders.ts";
import { later, testNow } from "../testing/snapshots.ts";
import { isAvailable, isDeleting, isPreserved } from "./phase.ts";

describe("phases", () => {
  test.each([
    ["Running", aMachine(inPhase("Running")), true, false],
    ["Available without target cluster", aMachine(inPhase("Available")), true, false],
    ["Pending", aMachine(inPhase("Pending")), false, false],
    ["new", aMachine(), false, false],
    ["Running and being deleted", aMachine(inPhase("Running"), beingDeleted()), false, true],
    ["Terminating", aMachine(inPhase("Terminating")), false, true],
    ["of a phase of another version", aMachine({ status: { currentStatus: { phase: "X" } } }), false, false],
  ])("a machine that is %s", (_, machine, available, deleting) => {
    expect([isAvailable(machine), isDeleting(machine)]).toEqual([available, deleting]);
  });

  it("are preserved until the expiry", () => {
    const machine = aMachine({ status: { currentStatus: { preserveExpiryTime: "2026-01-01T00:10:01Z" } } });
    expect([isPreserved(machine, testNow), isPreserved(machine, later(1_000))]).toEqual([true, false]);
    expect(isPreserved(aMachine(), testNow)).toBe(false);
  });
});
