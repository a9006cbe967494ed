import { type Machine, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted, type Change, inPhase, labeled } from "../../testing/builders.ts";
import {
  aSnapshot,
  type SnapshotChange,
  failed,
  kindsOf,
  lastly,
  later,
  succeeded,
  testNow,
  withVm,
} from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const DAY = 24 * 3_600_000;
const sick = { status: { conditions: [{ type: "Ready", status: "False" }] } };
const unread = (change: SnapshotChange, now = testNow) =>
  decideMachine(aSnapshot({ isTargetUnread: true, ...change }), now);
const aVm = (...changes: readonly Change<Machine>[]): Machine => aMachine(withVm, ...changes);

describe("a machine while the nodes of the target cluster were never listed", () => {
  it.each([
    "Pending",
    "Running",
    "Unknown",
    "Failed",
    "InPlaceUpdating",
    "InPlaceUpdateSuccessful",
    "InPlaceUpdateFailed",
  ] as const)("keeps its phase %s for days, and nothing is done about its node and its VM", (phase) => {
    const machine = aVm(inPhase(phase), sick, lastly("HealthCheck", "Successful", "healthy"));
    const decision = unread({ machine }, later(30 * DAY));
    expect([decision.actions, phaseOf({ status: decision.status ?? machine.status ?? {} })]).toEqual([[], phase]);
  });

  it("reports that it may have joined while it is Pending, and that remediation is paused after its health timeout", () => {
    const pending = unread({ machine: aVm(inPhase("Pending"), lastly("Create", "Processing", "Creating")) });
    expect(pending.status?.lastOperation?.description).toContain("Cannot determine whether the node");
    const unknown = unread({ machine: aVm(inPhase("Unknown"), sick) }, later(DAY));
    expect(unknown.status?.lastOperation?.description).toContain("Remediation paused");
  });

  it("gets its finalizer, its VM and the id of its VM", () => {
    const finalizers = { metadata: { finalizers: null } };
    expect(kindsOf(unread({ machine: aMachine(finalizers) }))).toEqual(["PatchMachine"]);
    expect(kindsOf(unread({ machine: aMachine() }))).toContain("StartOperation");
    const created = succeeded("create", { providerId: "vm-1", nodeName: "node" });
    expect(kindsOf(unread({ machine: aMachine(), operation: created }))).toContain("PatchMachine");
    expect(kindsOf(unread({ machine: aVm() }))).toEqual(["StartOperation"]);
    const settled = unread({ machine: aVm(), operation: created });
    expect(phaseOf({ status: settled.status ?? {} })).toBe("Pending");
  });

  it("does not fail when the creation takes too long: the node may have joined", () => {
    const operation = failed("find", "Internal");
    const machine = aVm(inPhase("CrashLoopBackOff"));
    expect(phaseOf({ status: unread({ machine, operation }).status ?? {} })).toBe("CrashLoopBackOff");
    expect(unread({ machine, operation }, later(DAY))).toEqual({ actions: [], because: [] });
  });

  it("is left alone without the finalizer", () => {
    const machine = aVm(inPhase("Running"), { metadata: { finalizers: null } });
    expect(unread({ machine })).toEqual({ actions: [], because: [] });
  });
});

describe("a machine that is deleted while the nodes of the target cluster were never listed", () => {
  const terminating = (description: string): Change<Machine> => ({
    status: { ...lastly("Delete", "Processing", description).status, currentStatus: { phase: "Terminating" } },
  });

  it.each<[string, Change<Machine>, SnapshotChange, string]>([
    ["its deletion begins", {}, {}, "GetVmStatus"],
    ["a user forces it", labeled({ "force-deletion": "True" }), {}, "GetVmStatus"],
    ["it has no id", { spec: { providerID: null }, metadata: { labels: null } }, {}, "GetVmStatus"],
    ["it is being drained", terminating("Initiate node drain"), {}, "Drain"],
    ["another machine names its VM", {}, { holder: { name: "other", providerId: "vm-1" } }, "GetVmStatus"],
  ])("keeps its VM and its finalizer, and reports what it waits for: %s", (_, change, rest, stage) => {
    const machine = aVm(inPhase("Running"), beingDeleted(), change);
    const decision = unread({ machine, ...rest }, later(30 * DAY));
    const waits = "Nodes and pods are not listed yet: the API server of the nodes is unreachable or slow";
    expect(decision.actions).toEqual([]);
    expect(decision.status).toMatchObject({
      currentStatus: { phase: "Terminating" },
      lastOperation: { type: "Delete", state: "Failed", description: expect.stringContaining(waits) },
    });
    expect(decision.because).toEqual([
      { type: "Warning", reason: "DeletionBlocked", message: expect.stringMatching(`; stage ${stage}$`) },
    ]);
    expect(unread({ machine: { ...machine, status: decision.status ?? {} }, ...rest }).because).toEqual([]);
  });

  it("keeps its VM after a drain, and what was reported of the drain", () => {
    const skipped = "Node node is unreachable, skipping node drain and deleting the VM first. Initiate VM deletion";
    const machine = aVm(beingDeleted(), terminating(skipped));
    expect(unread({ machine }, later(30 * DAY))).toEqual({ actions: [], because: [] });
    expect(kindsOf(decideMachine(aSnapshot({ machine }), testNow))).toEqual(["StartOperation"]);
  });

  it("gets the id of the VM that was being created", () => {
    const operation = succeeded("create", { providerId: "vm-1" });
    expect(kindsOf(unread({ machine: aMachine(beingDeleted()), operation }))).toEqual([
      "PatchMachine",
      "AcknowledgeOperation",
    ]);
  });
});
