import { describe, expect, it } from "vitest";
import { planBench, scenarioList } from "./options.ts";

describe("flags of the measurement", () => {
  it("run all scenarios at their small sizes by default", () => {
    const plan = planBench({});
    if ("problem" in plan) throw new Error(plan.problem);
    const names = plan.runs.map(({ scenario }) => scenario.name);
    expect(new Set(names).size).toBe(names.length);
    for (const { scenario, size } of plan.runs) {
      expect(size).toEqual(scenario.short);
      expect(scenarioList()).toContain(scenario.name);
    }
    expect(plan).toMatchObject({ onDevcluster: false, withGoMcm: false, isSaved: false, build: undefined });
  });

  it("set the size, and the duration only of scenarios that have one", () => {
    const plan = planBench({ scenario: ["idle", "create"], machines: "7", minutes: "0.5", long: true });
    expect(plan).toMatchObject({ runs: [{ size: { machines: 7 } }, { size: { machines: 7, minutes: 0.5 } }] });
    expect("runs" in plan && plan.runs[0]?.size).toEqual({ machines: 7 });
  });

  it.each([
    [{ scenario: ["crate"] }, 'unknown scenario "crate"'],
    [{ machines: "ten" }, '--machines is "ten"'],
    [{ machines: "1.5" }, '--machines is "1.5"'],
    [{ machines: "" }, '--machines is ""'],
    [{ minutes: "0" }, '--minutes is "0"'],
    [{ build: "packed" }, '--build is "packed"'],
  ])("%j are refused", (flags, problem) => {
    expect(planBench(flags)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
