import { annotationKeys, type Machine, type MachinePhase } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { testNow } from "../testing/snapshots.ts";
import {
  hasRemediationBudget,
  isInFlightRemediation,
  remediationGroupOf,
  replacementsAllowed,
} from "./remediation-budget.ts";

const nodeConditions = ["DiskPressure"];
const counts = (...changes: readonly Change<Machine>[]) =>
  isInFlightRemediation(aMachine(...changes), nodeConditions, testNow);
const wasHealthy = { status: { conditions: [{ type: "Ready", status: "True" }] } };
const preservedUntil = (preserveExpiryTime: string) => ({ status: { currentStatus: { preserveExpiryTime } } });

describe("remediationGroupOf", () => {
  it("is by the deployment's name, whichever set the machine belongs to", () => {
    const set = aMachineSet(named("pool-1"));
    expect(remediationGroupOf(aMachine(ownedBy(set)))).toBe("deployment pool");
  });

  // In MCM such machines need no budget.
  test.each([
    [
      "the set of a machine without that label",
      aMachine({ metadata: { labels: { name: null } } }, ownedBy(aMachineSet())),
      "set set",
    ],
    ["the class of a machine without set", aMachine({ metadata: { labels: null } }), "class small"],
    [
      "the class where the owner is something else",
      aMachine(labeled({ name: "" }), ownedBy(aMachineDeployment())),
      "class small",
    ],
    ["no class", { metadata: { name: "a" }, spec: {} }, "class "],
  ])("is by %s", (_, machine, group) => {
    expect(remediationGroupOf(machine)).toBe(group);
  });
});

describe("isInFlightRemediation", () => {
  test.each<[MachinePhase, boolean]>([
    ["", true],
    ["Pending", true],
    ["CrashLoopBackOff", true],
    ["Failed", true],
    ["Terminating", true],
    ["Running", false],
    ["Unknown", false],
    ["Available", false],
    ["InPlaceUpdating", false],
    ["InPlaceUpdateSuccessful", false],
    ["InPlaceUpdateFailed", false],
  ])("of a machine in phase %j: %j", (phase, expected) => {
    expect(counts(inPhase(phase))).toBe(expected);
  });

  it("does not count a Failed machine that is preserved", () => {
    expect(counts(inPhase("Failed"), preservedUntil("2026-01-02T00:00:00Z"))).toBe(false);
    expect(counts(inPhase("Failed"), preservedUntil("2026-01-01T00:00:00Z"))).toBe(true);
  });

  it("does not count a protected machine that is Failed or terminating: it is not replaced", () => {
    const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
    expect(counts(inPhase("Failed"), isKept)).toBe(false);
    expect(counts(inPhase("Terminating"), beingDeleted(), isKept)).toBe(false);
    expect(counts(inPhase("Pending"), isKept)).toBe(true);
  });

  it("does not count a healthy machine that is terminating: its deployment is scaled down or rolled out", () => {
    expect(counts(inPhase("Terminating"), beingDeleted(), wasHealthy)).toBe(false);
    expect(counts(inPhase("Running"), beingDeleted(), wasHealthy)).toBe(false);
    const sick = [
      { type: "Ready", status: "True" },
      { type: "DiskPressure", status: "True" },
    ];
    expect(counts(inPhase("Terminating"), beingDeleted(), { status: { conditions: sick } })).toBe(true);
  });

  it("does not count a phase of another version", () => {
    expect(counts({ status: { currentStatus: { phase: "Hibernating" } } })).toBe(false);
  });
});

describe("the limit", () => {
  test.each([
    [1, 1, 1],
    [3, 1, 3],
    [0, 10, 0],
    ["10%", 5, 1],
    ["10%", 29, 2],
    ["100%", 7, 7],
    ["0%", 7, 0],
    [-1, 7, 0],
    ["x", 7, 0],
  ])("%j of %j machines allows %j", (limit, machines, expected) => {
    expect(replacementsAllowed(limit, machines)).toBe(expected);
  });
});

describe("the gate", () => {
  const isOpen = (
    peers: readonly ReturnType<typeof aMachine>[],
    more: { limit?: number | string; inFlight?: string[] } = {},
  ) => hasRemediationBudget({ peers, inFlight: more.inFlight ?? [], limit: more.limit ?? 1 }, nodeConditions, testNow);

  it("is open for one of several machines that timed out together", () => {
    expect(isOpen([aMachine(named("b"), inPhase("Unknown")), aMachine(named("c"), inPhase("Running"))])).toBe(true);
    expect(isOpen([])).toBe(true);
  });

  test.each<[MachinePhase]>([["Failed"], ["Terminating"], [""], ["Pending"], ["CrashLoopBackOff"]])(
    "is shut while a machine of the deployment is in phase %j, as in MCM",
    (phase) => {
      expect(isOpen([aMachine(named("b"), inPhase(phase))])).toBe(false);
    },
  );

  // MCM's budget can be exceeded (`canMarkMachineFailed`).
  it("is used up by another machine whose remediation the cache does not show", () => {
    expect(isOpen([aMachine(named("b"), inPhase("Unknown"))], { inFlight: ["uid-b"] })).toBe(false);
    expect(isOpen([aMachine(named("b"), inPhase("Unknown"))], { inFlight: ["uid-b"], limit: 2 })).toBe(true);
  });

  it("counts a machine once whose remediation has started and that is Failed already", () => {
    expect(isOpen([aMachine(named("b"), inPhase("Failed"))], { inFlight: ["uid-b"], limit: 2 })).toBe(true);
  });

  it("takes a percentage of the machines that stay", () => {
    const running = Array.from({ length: 18 }, (_, index) => aMachine(named(`r${index}`), inPhase("Running")));
    const failed = aMachine(named("f"), inPhase("Failed"));
    expect(isOpen([...running, failed], { limit: "10%" })).toBe(true);
    expect(isOpen([...running.slice(1), failed], { limit: "10%" })).toBe(false);
    const going = aMachine(running[0] ?? {}, beingDeleted(), wasHealthy);
    expect(isOpen([...running.slice(1), going, failed], { limit: "10%" })).toBe(false);
  });

  it("is always shut at 0", () => {
    expect(isOpen([], { limit: 0 })).toBe(false);
    expect(isOpen([aMachine(named("b"), inPhase("Running"))], { limit: "0%" })).toBe(false);
  });

  it("allows as many as the limit, in any order of the machines", () => {
    const phases = fc.array(fc.constantFrom<MachinePhase>("Running", "Unknown", "Failed", "Pending"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(phases, fc.integer({ min: 0, max: 5 }), (drawn, limit) => {
        const peers = drawn.map((phase, index) => aMachine(named(`m${index}`), inPhase(phase)));
        const going = drawn.filter((phase) => phase === "Failed" || phase === "Pending").length;
        expect(isOpen(peers, { limit })).toBe(going < limit);
        expect(isOpen(peers.toReversed(), { limit })).toBe(going < limit);
      }),
    );
  });
});

it("counts a machine without UID as one without a remediation", () => {
  const nameless = { ...aMachine(inPhase("Unknown")), metadata: { name: "a" } };
  expect(hasRemediationBudget({ peers: [nameless], inFlight: ["uid-x"], limit: 1 }, [], testNow)).toBe(true);
});
