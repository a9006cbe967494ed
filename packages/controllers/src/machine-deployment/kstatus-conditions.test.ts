import type { Condition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { kstatusCondition, withKstatusCondition } from "./kstatus-conditions.ts";

const entry = (type: string, status: string, message = ""): Condition => ({ type, status, reason: type, message });
const settled = [
  entry("Available", "True"),
  entry("Progressing", "True"),
  entry("RollingOut", "False"),
  entry("Remediating", "False"),
  entry("ScalingDown", "False"),
  entry("ScalingUp", "False"),
  entry("MachinesReady", "True"),
  entry("SpecValid", "True"),
];
const change = (type: string, status: string, message = ""): readonly Condition[] =>
  settled.map((condition) => (condition.type === type ? entry(type, status, message) : condition));
const now = new Date("2026-01-01T00:00:00Z");

describe("the conditions for kstatus", () => {
  it.each([
    ["RollingOut", "True"],
    ["RollingOut", "Unknown"],
    ["ScalingUp", "True"],
    ["ScalingDown", "True"],
    ["Remediating", "True"],
    ["MachinesReady", "False"],
    ["MachinesReady", "Unknown"],
  ])("have Reconciling while %s is %s, with the first line of its message", (type, status) => {
    const expected = { type: "Reconciling", status: "True", reason: type, message: "3 machines" };
    expect(kstatusCondition(change(type, status, "3 machines\n* machine-0"))).toEqual(expected);
  });

  it("name the condition that has a list of machines instead of the list's first line", () => {
    expect(kstatusCondition(change("MachinesReady", "False", "* Machines a, b:\n  * NodeHealthy: Unknown"))).toEqual(
      expect.objectContaining({ reason: "MachinesReady", message: "Condition MachinesReady lists the machines" }),
    );
  });

  it("have Reconciling while a condition is missing", () => {
    expect(kstatusCondition([])).toEqual({ type: "Reconciling", status: "True", reason: "RollingOut", message: "" });
  });

  it.each([
    ["SpecValid", "* spec.replicas: must not be negative"],
    ["Progressing", "MachineSet has timed out progressing."],
  ])("have Stalled, and not Reconciling, while %s is False", (type, message) => {
    const list = [...change(type, "False", message), entry("Reconciling", "True")].map((condition) =>
      condition.type === "RollingOut" ? entry("RollingOut", "True") : condition,
    );
    const conditions = withKstatusCondition(list, 2, now);
    expect(conditions.filter(({ type: each }) => ["Reconciling", "Stalled"].includes(each))).toEqual([
      {
        type: "Stalled",
        status: "True",
        reason: type,
        message,
        observedGeneration: 2,
        lastTransitionTime: "2026-01-01T00:00:00Z",
        lastUpdateTime: "2026-01-01T00:00:00Z",
      },
    ]);
  });

  it("are absent from a settled deployment, and while it is paused without a rollout", () => {
    expect(withKstatusCondition(settled, 2, now)).toBe(settled);
    const left = [...settled, entry("Reconciling", "True"), entry("Stalled", "True")];
    expect(withKstatusCondition(left, 2, now)).toEqual(settled);
    const paused = change("Progressing", "Unknown");
    expect(withKstatusCondition(paused, undefined, now)).toBe(paused);
  });

  it("stay the same list when nothing changes", () => {
    const rolling = withKstatusCondition(change("RollingOut", "True", "Rolling out"), undefined, now);
    expect(withKstatusCondition(rolling, undefined, new Date(0))).toBe(rolling);
    expect(rolling.at(-1)).toMatchObject({ type: "Reconciling", reason: "RollingOut", message: "Rolling out" });
  });
});
