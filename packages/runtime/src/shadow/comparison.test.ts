import { describe, expect, it } from "vitest";
import { type ComparisonOutcome, createComparison } from "./comparison.ts";
import type { IntendedAction } from "./intended-action.ts";

const namespace = "default";
const deletion: IntendedAction = {
  action: "Delete",
  kind: "Machine",
  subject: { kind: "Machine", namespace, name: "a" },
  detail: "",
};
const creationIn = (set: string): IntendedAction => ({
  action: "Create",
  kind: "Machine",
  subject: { kind: "MachineSet", namespace, name: set },
  detail: "",
});
const createdIn = (set: string) => ({ kind: "Machine", namespace, owner: { kind: "MachineSet", name: set } });

const compare = () => {
  const outcomes: ComparisonOutcome[] = [];
  const states: string[] = [];
  const comparison = createComparison({
    graceMs: 100,
    forgetMs: 30,
    onOutcome: (each) => outcomes.push(each),
    onDifference: (state, { action }) => states.push(`${state} ${action}`),
  });
  return { ...comparison, outcomes, states };
};

describe("the comparison of a shadow with the other manager", () => {
  it("confirms an action that is not intended any more within the grace period", () => {
    const { intended, report, outcomes, states } = compare();
    intended(deletion, 0);
    intended(deletion, 60);
    expect(report(90)).toMatchObject({ due: [{ since: 0 }], differences: [] });
    expect(report(91)).toEqual({ due: [], differences: [] });
    expect([outcomes, states]).toEqual([["confirmed"], []]);
  });

  it("finds a difference where an action stays due for the grace period, until it is not due any more", () => {
    const { intended, report, outcomes, states } = compare();
    for (let now = 0; now < 100; now += 20) intended(deletion, now);
    expect(report(99)).toMatchObject({ due: [{ since: 0 }], differences: [] });
    intended(deletion, 100);
    expect(report(100)).toMatchObject({ due: [], differences: [{ since: 0, subject: { name: "a" } }] });
    expect(outcomes).toEqual([]);
    expect(report(131)).toEqual({ due: [], differences: [] });
    expect([outcomes, states]).toEqual([["late"], ["begun Delete", "ended Delete"]]);
  });

  it("does not count time in which no reconcile intended the action", () => {
    const { intended, report, outcomes } = compare();
    intended(deletion, 0);
    expect(report(500).differences).toEqual([]);
    expect(outcomes).toEqual(["confirmed"]);
    intended(deletion, 500);
    expect(report(500)).toMatchObject({ due: [{ since: 500 }] });
  });

  it("counts the time for the next creation from the last one of the same owner", () => {
    const { intended, created, report, outcomes } = compare();
    for (let now = 0; now <= 200; now += 20) {
      intended(creationIn("set"), now);
      if (now === 80 || now === 160) created(createdIn("set"));
      created(createdIn("other"));
      created({ kind: "Machine", namespace });
    }
    expect(report(200)).toMatchObject({ due: [{ since: 180 }], differences: [] });
    expect(outcomes).toEqual(["confirmed", "confirmed"]);
  });

  it("keeps actions with another target apart", () => {
    const { intended, report } = compare();
    const scale = (replicas: number): IntendedAction => ({
      ...deletion,
      action: "ChangeSpec",
      detail: JSON.stringify({ replicas }),
    });
    for (let now = 0; now <= 200; now += 20) intended(scale(now), now);
    expect(report(200).differences).toEqual([]);
  });
});
