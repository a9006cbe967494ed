import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { HeldDeletions } from "../model/deletion-budget.ts";
import { approverOf, heldDeletionMessage } from "../model/held-deletion.ts";
import { aMachine, aMachineDeployment, aMachineSet, annotated, named } from "../testing/builders.ts";
import { holdsOfSets } from "../model/hold-condition.ts";
import { heldCondition, heldEvents } from "./held-condition.ts";

const now = new Date("2026-01-01T12:00:00Z");
const held = (change: Partial<HeldDeletions> = {}): HeldDeletions => ({
  why: "share",
  cause: "scale-down",
  count: 60,
  scope: { kind: "MachineDeployment", name: "pool" },
  limit: 30,
  total: 60,
  loss: 0,
  ...change,
});
const command = `To approve, run "millwright approve deployment pool"`;
const gently = `${command}, with --at-a-time 3 for three at a time`;
const annotation = `; or set annotation ${annotationKeys.approveDeletions} of MachineDeployment pool to `;

describe("the condition of deletions that are held", () => {
  const ofPool = (change: Partial<HeldDeletions>, annotations: Readonly<Record<string, string>> = {}) =>
    heldCondition(held(change), { kind: "MachineDeployment", object: aMachineDeployment(annotated(annotations)) }, now);

  it.each<[Partial<HeldDeletions>, string, string, string]>([
    [
      {},
      "ApprovalRequired",
      "Deletion of 60 machines is held (scale-down): at most 30 of 60 machines of MachineDeployment pool may be lost within an hour. Nothing of it is deleted.",
      `${gently}${annotation}deletions=60,generation=1,uid=uid-pool`,
    ],
    [
      { cause: "machine", before: "2026-01-01T11:00:00Z", count: 1, loss: 31, scope: { kind: "Namespace", name: "n" } },
      "ApprovalRequired",
      "Deletion of 1 machine is held (deletion of Machines): at most 30 of 60 machines of Namespace n may be lost within an hour, and 31 were lost already. Nothing of it is deleted.",
      `${gently}${annotation}requests=1,before=2026-01-01T11:00:00Z,uid=uid-pool`,
    ],
    [
      { cause: "parent" },
      "ApprovalRequired",
      "Deletion of 60 machines is held (deletion of the owner): at most 30 of 60 machines of MachineDeployment pool may be lost within an hour. Nothing of it is deleted.",
      `${gently}${annotation}requests=60,generation=1,uid=uid-pool`,
    ],
    [
      { why: "pace", limit: 3, count: 57 },
      "Paced",
      "Deletion of 57 machines is approved and waits (scale-down): at most 3 of MachineDeployment pool are deleted, or not replaced yet, at a time. The next ones follow by themselves.",
      `${gently}${annotation}deletions=57,generation=1,uid=uid-pool`,
    ],
    [
      { why: "rate", cause: "remediation", limit: 50, scope: { kind: "MachineClass", name: "small" } },
      "RateLimited",
      "Deletion of 60 machines is held (remediation): MachineClass small is limited to 50 deletions an hour. Nothing of it is deleted.",
      `${gently}${annotation}deletions=60,generation=1,uid=uid-pool`,
    ],
    [
      { why: "ownerless VMs", cause: "creation", total: 58, scope: { kind: "MachineClass", name: "small" } },
      "ApprovalRequired",
      "Creation of 60 machines is held: 58 VMs of MachineClass small have no Machine and may be theirs. To keep the VMs, create their Machines with spec.providerID.",
      `${command}${annotation}creations=60,generation=1,uid=uid-pool`,
    ],
  ])("names what is held, how much, why, and how to approve: %#", (change, reason, message, remedy) => {
    expect(ofPool(change)).toMatchObject({ status: "True", reason, message: `${message} ${remedy}` });
  });

  it("counts what was approved before in the same generation", () => {
    const { message } = ofPool({ count: 5 }, { [annotationKeys.usedApprovals]: "generation=1,count=15" });
    expect(message).toContain("to deletions=20,generation=1,");
  });

  it.each([
    ["2026-01-01T11:00:00Z", '. Value "2026-01-01T11:00:00Z" approves nothing of it: it has expired'],
    ["yes", '. Value "yes" approves nothing of it: it is neither an RFC 3339 time nor a value that a hold shows'],
    [
      "deletions=5,generation=1,uid=uid-pool",
      '. Value "deletions=5,generation=1,uid=uid-pool" approves nothing of it: it is for less, or for something else',
    ],
    ["2026-01-01T13:00:00Z", ""],
  ])("names an annotation that approves nothing: %s", (value, problem) => {
    const { message } = ofPool({}, { [annotationKeys.approveDeletions]: value });
    expect(message?.split("deletions=60,generation=1,uid=uid-pool")[1]).toBe(problem);
    expect(ofPool({ why: "pace" }, { [annotationKeys.approveDeletions]: value }).message).not.toContain("Value");
  });

  it("names a set without deployment", () => {
    const { message } = heldCondition(held(), { kind: "MachineSet", object: aMachineSet() }, now);
    expect(message).toContain('run "millwright approve set set"');
  });
});

describe("the condition of a deployment", () => {
  const condition = {
    type: "DeletionsHeld",
    status: "True",
    reason: "ApprovalRequired",
    message: "60 machines",
  } as const;

  it("is that of the first of its sets that holds something", () => {
    const sets = [aMachineSet(), aMachineSet({ status: { machineSetCondition: [condition] } })];
    expect(holdsOfSets(sets)).toEqual([condition]);
    const bare = { type: "DeletionsHeld", status: "True" } as const;
    expect(holdsOfSets([aMachineSet({ status: { machineSetCondition: [bare] } })])).toEqual([
      { ...bare, reason: "", message: "" },
    ]);
    const ended = { ...condition, status: "False" } as const;
    expect(holdsOfSets([aMachineSet({ status: { machineSetCondition: [ended] } })])).toEqual([]);
  });

  it("has an event when it begins, and none when its numbers change", () => {
    expect(heldEvents([], [condition])).toEqual([{ type: "Warning", reason: "DeletionsHeld", message: "60 machines" }]);
    expect(heldEvents(undefined, [{ type: "DeletionsHeld", status: "True" }])).toMatchObject([{ message: "" }]);
    expect(heldEvents([condition], [{ ...condition, message: "61 machines" }])).toEqual([]);
    expect(heldEvents([condition], [])).toEqual([]);
  });
});

describe("the message of a Machine whose deletion is held", () => {
  it("has no numbers that change while others are deleted", () => {
    const approver = { kind: "MachineDeployment", name: "pool" } as const;
    expect(heldDeletionMessage(held({ loss: 3 }), approver)).toBe(
      `Deletion held for approval: too many machines of MachineDeployment pool would be deleted at once. No node is drained and no VM is deleted. ${gently}`,
    );
    expect(heldDeletionMessage(held({ why: "rate", limit: 50 }), approver)).toBe(
      `Deletion held: MachineDeployment pool is limited to 50 deletions an hour. ${gently}`,
    );
    expect(heldDeletionMessage(held({ why: "pace", limit: 3 }), approver)).toBe(
      'Deletion held: approved, but at most 3 machines of MachineDeployment pool at a time. To have all deleted at once, run "millwright approve deployment pool"',
    );
  });

  it("has what approves a Machine without an owner", () => {
    const approver = approverOf(aMachine(named("m")), undefined, undefined);
    expect(heldDeletionMessage(held(), approver)).toContain(
      `To approve, run "millwright approve machine m"; or set annotation ${annotationKeys.approveDeletions} of Machine m to requests=1,uid=uid-m`,
    );
  });
});
