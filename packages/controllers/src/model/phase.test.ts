import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { aMachine, beingDeleted, type Change, inPhase } from "../testing/builders.ts";
import { lastly, later, testNow } from "../testing/snapshots.ts";
import { isAvailable, isDeleting, isInService, isPreserved, isReadyInService } from "./phase.ts";

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

describe("the numbers of a status", () => {
  const kept = (description: string, ...changes: readonly Change<Machine>[]): Machine =>
    aMachine(beingDeleted(), inPhase("Terminating"), lastly("Delete", "Processing", description), ...changes);
  const onReadyNode = { status: { conditions: [{ type: "Ready", status: "True" }] } };
  const isProtected = "Deletion paused: Machine m is protected. No node is drained and no VM is deleted";

  it.each<[string, Machine, boolean, boolean]>([
    ["one that runs", aMachine(inPhase("Running")), true, true],
    ["one without a cluster to join", aMachine(inPhase("Available")), true, false],
    ["one that joins", aMachine(inPhase("Pending")), false, false],
    ["one whose deletion has not begun, or is held", aMachine(inPhase("Running"), beingDeleted()), true, true],
    ["such a one without a cluster to join", aMachine(inPhase("Available"), beingDeleted()), true, false],
    ["such a one whose node is not ready", aMachine(inPhase("Unknown"), beingDeleted()), false, false],
    ["one that is drained", kept("Drain not completed yet. Initiate node drain", onReadyNode), false, false],
    [
      "a protected one",
      kept(`${isProtected}. Set machine status to termination. Now, getting VM Status`, onReadyNode),
      true,
      true,
    ],
    [
      "a protected one whose node is not ready",
      kept(`${isProtected}. Set machine status to termination. Now, getting VM Status`),
      false,
      false,
    ],
    ["one that was protected after its drain", kept(`${isProtected}. Initiate VM deletion`, onReadyNode), false, false],
  ])("count %s", (_, machine, isServing, isReady) => {
    expect([isInService(machine), isReadyInService(machine)]).toEqual([isServing, isReady]);
  });
});
