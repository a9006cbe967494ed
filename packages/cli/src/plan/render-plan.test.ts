import type { Plan } from "@millwright/plan";
import { describe, expect, it } from "vitest";
import { renderPlan } from "./render-plan.ts";

type Change = Plan["changes"][number];

const step: Change["steps"][number] = {
  afterMs: 0,
  setsCreated: [{ name: "pool-2", className: "big" }],
  setsDeleted: [],
  machinesCreated: [{ set: "pool-2", count: 1 }],
  machinesDeleted: [],
  machinesChanged: [],
  machinesUpdated: [],
  nodesTainted: ["n1", "n2"],
  nodesUntainted: [],
  messages: ["Scaled up machine set pool-2 to 1"],
  after: { current: 1, old: 2, terminating: 0, available: 2 },
};
const nothing = { ...step, setsCreated: [], machinesCreated: [], nodesTainted: [], messages: [] };
const change: Change = {
  kind: "MachineDeployment",
  name: "pool",
  outcome: "completes",
  steps: [
    step,
    {
      ...nothing,
      afterMs: 150_000,
      machinesDeleted: [
        { name: "m1", set: "pool-1", node: "n1" },
        { name: "m9", set: "pool-1" },
      ],
    },
  ],
  waitsFor: [],
  problems: [],
  surge: { used: 1, allowed: 1 },
  minAvailable: 2,
  durations: { joinMs: 150_000, deletionMs: undefined, finishedJoins: 2, finishedDeletions: 0 },
  expectedMs: 150_000,
};
const plan: Plan = {
  namespace: "default",
  hasEffect: true,
  changes: [change],
  deletedMachines: [],
  drains: [],
  notes: [],
};

describe("renderPlan", () => {
  it("shows steps with times, counts, surge, and what blocks drains", () => {
    const drains: Plan["drains"] = [
      {
        machine: "m1",
        node: "n1",
        outcome: "blocked",
        because: ["* Pod a/b: PodDisruptionBudget a/b can never be met"],
        deadline: "2026-01-01T02:00:00.000Z",
      },
      { machine: "m2", node: "n2", outcome: "completes", because: [], deadline: "2026-01-01T02:00:00.000Z" },
    ];
    expect(
      renderPlan({
        ...plan,
        drains,
        notes: ["a note \u001b[31m"],
        deletedMachines: [{ name: "x" }, { name: "y", node: "ny" }],
      }),
    ).toMatchInlineSnapshot(`
      "MachineDeployment pool: would complete by itself
        Surge:      at most 1 machine beyond its size, of 1 allowed
        Available:  at least 2
        Expected:   at least 2m30s; 2m30s for a machine to join, the median of 2; the time of a drain and deletion is unknown (set --drain-time)
        Steps:
              AT      NEW/OLD/TERMINATING  AVAILABLE  STEP
          1.  +0s     1/2/0                2          create MachineSet pool-2 of class big
                                                      create 1 machine in pool-2
                                                      taint, so that the scheduler avoids n1, n2
          2.  +2m30s  1/2/0                2          delete m1 (node n1), m9

      Deleted by the change itself:
        x
        y (node ny)
      Drains, as if each began now:
        1 of 2 nodes can be drained without blockers
        node n1 of machine m1 would be blocked until 2026-01-01T02:00:00.000Z, if drained now:
          * Pod a/b: PodDisruptionBudget a/b can never be met
      Notes:
        a note  [31m
      Nothing was written.
      "
    `);
  });

  it("breaks texts between words on a terminal", () => {
    const long = "word ".repeat(40).trim();
    const drain = { machine: "m1", node: "n1", outcome: "blocked", because: [`* ${long}`], deadline: "x" } as const;
    const waiting: Change = {
      ...change,
      waitsFor: [long],
      problems: [{ path: "spec", message: long, kind: "invalid" }],
    };
    const text = renderPlan({ ...plan, changes: [waiting], drains: [drain], notes: [long] }, 80);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(text.match(/\bword\b/g)).toHaveLength(4 * 40);
  });

  it("shows what is waited for and that nothing would happen", () => {
    const waiting: Change = { ...change, outcome: "waits", steps: [], waitsFor: ["Rollout is paused"] };
    const shown = renderPlan({ ...plan, hasEffect: false, changes: [waiting] });
    expect(shown).toContain(
      "MachineDeployment pool: would not complete by itself\n  Waits for:\n    Rollout is paused\n",
    );
    expect(shown).toContain("Nothing would happen.");
  });

  it("reports that the end is unknown", () => {
    const cutShort: Change = { ...change, outcome: "unknown", waitsFor: ["The rollout takes more than a year"] };
    expect(renderPlan({ ...plan, changes: [cutShort] })).toContain(
      "MachineDeployment pool: would continue beyond the limits of a preview\n",
    );
  });

  it("shows which durations are known, and their source", () => {
    const expected = (durations: Change["durations"]): string =>
      /Expected:\s+(.*)/.exec(renderPlan({ ...plan, changes: [{ ...change, durations }] }))?.[1] ?? "";
    expect(expected({ joinMs: 60_000, deletionMs: 60_000, finishedJoins: 0, finishedDeletions: 0 })).toBe(
      "2m30s; 1m0s for a machine to join; 1m0s for a drain and deletion",
    );
    expect(expected({ joinMs: 60_000, deletionMs: 90_000, finishedJoins: 0, finishedDeletions: 5 })).toMatch(
      /; 1m30s for a drain and deletion, the median of 5 from events$/,
    );
    expect(expected({ joinMs: undefined, deletionMs: undefined, finishedJoins: 0, finishedDeletions: 0 })).toMatch(
      /^at least 2m30s; .*unknown \(set --join-time.*unknown \(set --drain-time/,
    );
  });

  it("adds up the bursts in which a set creates its machines", () => {
    const machinesCreated = [
      { set: "a", count: 100 },
      { set: "b", count: 1 },
      { set: "a", count: 50 },
    ];
    const shown = renderPlan({ ...plan, changes: [{ ...change, steps: [{ ...nothing, machinesCreated }] }] });
    expect(shown.match(/create .*/g)).toEqual(["create 150 machines in a", "create 1 machine in b"]);
  });

  it("shortens long lists", () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const shown = renderPlan({
      ...plan,
      changes: [{ ...change, steps: Array.from({ length: 70 }, () => ({ ...nothing, nodesTainted: names })) }],
    });
    expect(shown).toContain("n7 and 12 more");
    expect(shown).toContain("and 10 more steps: see -o json");
  });

  it("shows the other actions of a step", () => {
    const other = {
      ...nothing,
      machinesUpdated: ["u"],
      machinesChanged: ["c"],
      nodesUntainted: ["n"],
      setsDeleted: ["s"],
    };
    const shown = renderPlan({
      ...plan,
      changes: [{ ...change, steps: [other, { ...nothing, messages: ["Rolled back"] }] }],
    });
    for (const text of [
      "drain and update in place u",
      "change without replacement c",
      "remove the taint of n",
      "delete MachineSet s",
      "Rolled back",
    ]) {
      expect(shown).toContain(text);
    }
  });

  it("shows the problems of a rejected change", () => {
    const problems: Change["problems"] = [{ path: "spec.x", message: "must be y", kind: "invalid" }];
    expect(renderPlan({ ...plan, changes: [{ ...change, outcome: "rejected", problems }] })).toContain(
      "  Problems:\n    spec.x: must be y\n",
    );
  });
});
