import type { Condition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aJudgedMachine, withStatus } from "../../testing/judged-machines.ts";
import { causeOfUnready } from "./machines-ready.ts";
import { type SummaryFacts, summarize, withSummary, withSummaryOfHeld } from "./summary.ts";

const entry = (type: string, status: string, reason = type, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
});
const settled = [
  entry("Available", "True"),
  entry("Progressing", "True", "NewMachineSetAvailable"),
  entry("RollingOut", "False"),
  entry("Remediating", "False"),
  entry("ScalingDown", "False"),
  entry("ScalingUp", "False"),
  entry("MachinesReady", "True"),
  entry("SpecValid", "True"),
  entry("Paused", "False"),
  entry("Deleting", "False"),
];
const having = (...others: readonly Condition[]): readonly Condition[] => [
  ...settled.filter(({ type }) => !others.some((each) => each.type === type)),
  ...others,
];
const now = new Date("2026-01-01T00:00:00Z");
const options = { now, generation: 2, updateTime: true };
const text = (conditions: readonly Condition[], facts: SummaryFacts = {}): string => {
  const { type, reason, message } = summarize(conditions, facts);
  return `${type} ${reason} ${message}`.trim();
};

const held = entry("DeletionsHeld", "True", "ApprovalRequired", "Deletion of 15 machines is held");
const invalid = entry("SpecValid", "False", "InvalidSpec", "* spec.replicas: must not be negative");
const exceeded = entry("Progressing", "False", "ProgressDeadlineExceeded", "has timed out progressing.");
const rolling = entry("RollingOut", "True", "RollingOut", "Rolling out 2 not up-to-date replicas\n* MachineClass a, b");
const paused = entry("Paused", "True", "Paused", "spec.paused is set to true");
const unready = entry("MachinesReady", "False", "NotReady", "* Machines a, b:\n  * NodeHealthy: Unknown");
const gate = { reason: "WindowClosed", message: "Rollout waits for the window" };
const failure = { reason: "ResourceExhausted", message: "quota is used up" };

describe("the summary of a set or deployment", () => {
  it.each<[string, readonly Condition[], SummaryFacts, string]>([
    ["one that is as desired", settled, {}, "ready Ready"],
    ["one that is paused and has nothing to do", having(paused), {}, "ready Paused spec.paused is set to true"],
    [
      "an invalid spec",
      having(invalid, unready),
      { failure },
      "stalled InvalidSpec spec.replicas: must not be negative",
    ],
    ["a deletion of a CRD", having(entry("CRDsEstablished", "False", "CRDDeleted"), invalid), {}, "stalled CRDDeleted"],
    ["a refused write", having(entry("WriteRefused", "True", "WriteRefused"), held), {}, "stalled WriteRefused"],
    [
      "a held scale-down",
      having(held, entry("ScalingDown", "True")),
      {},
      "stalled DeletionsHeld Deletion of 15 machines is held",
    ],
    [
      "a held deletion",
      having(held, entry("Deleting", "True")),
      {},
      "stalled DeletionsHeld Deletion of 15 machines is held",
    ],
    [
      "a protected one that is deleted",
      having(entry("DeletionProtected", "True", "ObjectProtected"), entry("Deleting", "True")),
      {},
      "stalled DeletionProtected",
    ],
    [
      "an exceeded deadline",
      having(exceeded, rolling),
      { gate },
      "stalled ProgressDeadlineExceeded has timed out progressing.",
    ],
    [
      "a deletion that a rate delays",
      having({ ...held, reason: "RateLimited" }, rolling),
      {},
      "reconciling RateLimited Deletion of 15 machines is held",
    ],
    [
      "an approval with a pace",
      having({ ...held, reason: "Paced" }, entry("ScalingDown", "True")),
      {},
      "reconciling Paced Deletion of 15 machines is held",
    ],
    [
      "one that is deleted",
      having(entry("Deleting", "True"), entry("ScalingDown", "True"), paused),
      { failure },
      "reconciling Deleting",
    ],
    ["a freeze", having(entry("Frozen", "True", "OverShootingReplicaCount"), rolling), {}, "reconciling Frozen"],
    [
      "a rejected creation of Machines",
      having(entry("ReplicaFailure", "True", "FailedCreate"), rolling),
      {},
      "reconciling FailedCreate",
    ],
    [
      "a VM that cannot be created",
      having(unready, rolling, paused),
      { failure, gate },
      "reconciling ResourceExhausted quota is used up",
    ],
    ["a closed window", having(rolling), { gate }, "reconciling WindowClosed Rollout waits for the window"],
    ["a gate without a rollout", settled, { gate }, "ready Ready"],
    ["a rollout that is paused", having(rolling, paused), {}, "reconciling Paused spec.paused is set to true"],
    [
      "a deployment that is paused before its first set",
      having(paused, entry("ScalingUp", "False", "Paused")),
      {},
      "reconciling Paused spec.paused is set to true",
    ],
    ["a rollout", having(rolling, unready), {}, "reconciling RollingOut Rolling out 2 not up-to-date replicas"],
    [
      "a rollout that is not known",
      having(entry("RollingOut", "Unknown", "InspectionFailed")),
      {},
      "reconciling RollingOut",
    ],
    ["a scale-up", having(entry("ScalingUp", "True"), unready), {}, "reconciling ScalingUp"],
    ["a scale-down", having(entry("ScalingDown", "True"), unready), {}, "reconciling ScalingDown"],
    ["a remediation", having(entry("Remediating", "True"), unready), {}, "reconciling Remediating"],
    ["machines that are not ready", having(unready), {}, "reconciling NotReady Machines a, b: NodeHealthy: Unknown"],
    [
      "machines whose cause is known",
      having(unready),
      { unready: "NodeNotReady" },
      "reconciling NodeNotReady Machines a, b: NodeHealthy: Unknown",
    ],
    [
      "machines of which nothing is known",
      having(entry("MachinesReady", "Unknown", "ReadyUnknown")),
      {},
      "reconciling ReadyUnknown",
    ],
  ])("of %s", (_, conditions, facts, expected) => {
    expect(text(conditions, facts)).toBe(expected);
  });

  const summaryOf = (conditions: readonly Condition[]) =>
    conditions
      .filter(({ type }) => ["Ready", "Reconciling", "Stalled"].includes(type))
      .map(({ type, status, reason }) => `${type}=${status} ${reason}`);

  it("is written as Ready, and at most one of Reconciling and Stalled", () => {
    const left = [entry("Reconciling", "True"), entry("Stalled", "True")];
    expect(summaryOf(withSummary([...settled, ...left], {}, options))).toEqual(["Ready=True Ready"]);
    expect(summaryOf(withSummary(having(rolling, ...left), {}, options))).toEqual([
      "Reconciling=True RollingOut",
      "Ready=False RollingOut",
    ]);
    expect(summaryOf(withSummary(having(rolling, held, ...left), {}, options))).toEqual([
      "Stalled=True DeletionsHeld",
      "Ready=False DeletionsHeld",
    ]);
    const written = withSummary(settled, {}, options);
    expect(written.at(-1)).toEqual({
      type: "Ready",
      status: "True",
      reason: "Ready",
      message: "",
      observedGeneration: 2,
      lastTransitionTime: "2026-01-01T00:00:00Z",
      lastUpdateTime: "2026-01-01T00:00:00Z",
    });
    expect(withSummary(written, {}, { ...options, now: new Date(0) })).toBe(written);
  });

  it("of an object of which nothing else is decided has its stored times, and is missing without Cluster API's conditions", () => {
    const stored = withSummary(having(held), {}, options);
    const decided = withSummary(settled, {}, { ...options, now: new Date(0) });
    const again = withSummaryOfHeld([...decided, held], stored, { ...options, now: new Date(0) });
    const times = again.filter(({ type }) => type === "Ready" || type === "Stalled");
    expect(times.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ["Ready", "2026-01-01T00:00:00Z"],
      ["Stalled", "2026-01-01T00:00:00Z"],
    ]);
    const alone = [held];
    expect(withSummaryOfHeld(alone, undefined, options)).toBe(alone);
  });
});

it("names the most frequent cause of machines that are not ready, of two the first by alphabet", () => {
  const machine = (ready: "True" | "False", reason?: string) =>
    aJudgedMachine(
      "m",
      { ready: withStatus("Ready", ready) },
      reason === undefined ? {} : { status: { conditions: [{ type: "MachineReady", status: "False", reason }] } },
    );
  expect(causeOfUnready([])).toBeUndefined();
  expect(causeOfUnready([machine("False"), machine("True", "Old")])).toBeUndefined();
  const two = [machine("False", "NodeNotReady"), machine("False", "Draining"), machine("True", "Old")];
  expect(causeOfUnready(two)).toBe("Draining");
  expect(causeOfUnready([...two, machine("False", "NodeNotReady")])).toBe("NodeNotReady");
});
