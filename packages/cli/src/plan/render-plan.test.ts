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
  says: ["Scaled up machine set pool-2 to 1"],
  after: { current: 1, old: 2, leaving: 0, serving: 2 },
};
const nothing = { ...step, setsCreated: [], machinesCreated: [], nodesTainted: [], says: [] };
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
  fewestServing: 2,
  durations: { joinMs: 150_000, leaveMs: undefined, joinedMachines: 2, leftMachines: 0 },
  expectedMs: 150_000,
};
const plan: Plan = {
  namespace: "default",
  happens: true,
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
        Surge:     1 machine beyond its size at most, of 1 allowed
        Serving:   never fewer than 2
        Expected:  at least 2m30s; 2m30s for a machine to join, as the middle one of 2 did; how long drains and deletions take is unknown (--drain-time says it)
        Steps:
              AT      NEW/OLD/LEAVING  SERVING  STEP
          1.  +0s     1/2/0            2        make MachineSet pool-2 of class big
                                                create 1 machine in pool-2
                                                steer pods away from n1, n2
          2.  +2m30s  1/2/0            2        delete m1 (node n1), m9

      Deleted by the change itself:
        x
        y (node ny)
      Drains, each as if it began now:
        1 of 2 nodes would be drained without anything that blocks them
        node n1 of machine m1 is held up, if drained now until 2026-01-01T02:00:00.000Z:
          * Pod a/b: PodDisruptionBudget a/b can never be met
      Notes:
        a note  [31m
      Nothing was written.
      "
    `);
  });

  it("shows what is waited for and that nothing would happen", () => {
    const waiting: Change = { ...change, outcome: "waits", steps: [], waitsFor: ["Rollout is paused"] };
    const shown = renderPlan({ ...plan, happens: false, changes: [waiting] });
    expect(shown).toContain(
      "MachineDeployment pool: would not complete by itself\n  Waits for:\n    Rollout is paused\n",
    );
    expect(shown).toContain("Nothing would happen.");
  });

  it("says that the end is not known", () => {
    const cutShort: Change = { ...change, outcome: "unknown", waitsFor: ["It takes more than a year"] };
    expect(renderPlan({ ...plan, changes: [cutShort] })).toContain(
      "MachineDeployment pool: would go on for longer than a preview does\n",
    );
  });

  it("says which durations are known, and from where", () => {
    const expected = (durations: Change["durations"]): string =>
      /Expected:\s+(.*)/.exec(renderPlan({ ...plan, changes: [{ ...change, durations }] }))?.[1] ?? "";
    expect(expected({ joinMs: 60_000, leaveMs: 60_000, joinedMachines: 0, leftMachines: 0 })).toBe(
      "2m30s; 1m0s for a machine to join; 1m0s for a drain and deletion",
    );
    expect(expected({ joinMs: 60_000, leaveMs: 90_000, joinedMachines: 0, leftMachines: 5 })).toMatch(
      /; 1m30s for a drain and deletion, the middle of 5 that events tell of$/,
    );
    expect(expected({ joinMs: undefined, leaveMs: undefined, joinedMachines: 0, leftMachines: 0 })).toMatch(
      /^at least 2m30s; .*unknown \(--join-time.*unknown \(--drain-time/,
    );
  });

  it("adds up the bursts in which a set makes its machines", () => {
    const machinesCreated = [
      { set: "a", count: 100 },
      { set: "b", count: 1 },
      { set: "a", count: 50 },
    ];
    const shown = renderPlan({ ...plan, changes: [{ ...change, steps: [{ ...nothing, machinesCreated }] }] });
    expect(shown.match(/create .*/g)).toEqual(["create 150 machines in a", "create 1 machine in b"]);
  });

  it("cuts what is too long to read", () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const shown = renderPlan({
      ...plan,
      changes: [{ ...change, steps: Array.from({ length: 70 }, () => ({ ...nothing, nodesTainted: names })) }],
    });
    expect(shown).toContain("n7 and 12 more");
    expect(shown).toContain("and 10 more steps: see -o json");
  });

  it("shows the other things that a step may do", () => {
    const other = {
      ...nothing,
      machinesUpdated: ["u"],
      machinesChanged: ["c"],
      nodesUntainted: ["n"],
      setsDeleted: ["s"],
    };
    const shown = renderPlan({
      ...plan,
      changes: [{ ...change, steps: [other, { ...nothing, says: ["Rolled back"] }] }],
    });
    for (const text of [
      "drain and update in place u",
      "change without replacement c",
      "let pods come again to n",
      "delete MachineSet s",
      "Rolled back",
    ]) {
      expect(shown).toContain(text);
    }
  });

  it("shows the problems of what would be refused", () => {
    const problems: Change["problems"] = [{ path: "spec.x", message: "must be y", kind: "invalid" }];
    expect(renderPlan({ ...plan, changes: [{ ...change, outcome: "refused", problems }] })).toContain(
      "  Problems:\n    spec.x: must be y\n",
    );
  });
});
