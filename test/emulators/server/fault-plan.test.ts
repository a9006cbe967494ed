import { seededRandom } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { createFaultPlan } from "./fault-plan.ts";

const run = { operation: "RunInstances", subjects: ["pool-a-1", "ami-1"] };
const list = { operation: "DescribeInstances", subjects: [] };

describe("a fault plan", () => {
  it("meets the operation that it names as often as it says", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "RunInstances", times: 2, delayMs: 7 });
    expect([list, run, run, run].map((subject) => plan.strike(subject)?.delayMs)).toEqual([undefined, 7, 7, undefined]);
    expect(plan.strikes).toBe(2);
  });

  it("lets the first ones pass when told so", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "*", skip: 2, delayMs: 1 });
    expect([run, list, run, run].map((subject) => plan.strike(subject) !== undefined)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("meets only what mentions its text", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "*", match: "pool-b", times: 9 });
    expect(plan.strike(run)).toBeUndefined();
    expect(plan.strike({ ...run, subjects: ["pool-b-7"] })).toBeDefined();
  });

  it("meets a share of the requests when it is only likely", () => {
    const plan = createFaultPlan(seededRandom(7));
    plan.add({ operation: "*", probability: 0.3, times: 1_000 });
    const met = Array.from({ length: 1_000 }, () => plan.strike(run)).filter((rule) => rule !== undefined).length;
    expect(met).toBeGreaterThan(230);
    expect(met).toBeLessThan(370);
  });

  it("is empty after it was cleared", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "*" });
    plan.clear();
    expect(plan.strike(run)).toBeUndefined();
  });
});
