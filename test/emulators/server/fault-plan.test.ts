import { seededRandom } from "@millwright/base";
import { describe, expect, it } from "vitest";
import { createFaultPlan } from "./fault-plan.ts";

const run = { operation: "RunInstances", subjects: ["pool-a-1", "ami-1"] };
const list = { operation: "DescribeInstances", subjects: [] };

describe("a fault plan", () => {
  it("applies to its operation the given number of times", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "RunInstances", times: 2, delayMs: 7 });
    expect([list, run, run, run].map((subject) => plan.strike(subject)?.delayMs)).toEqual([undefined, 7, 7, undefined]);
    expect(plan.strikes).toBe(2);
  });

  it("skips the given number of requests", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "*", skip: 2, delayMs: 1 });
    expect([run, list, run, run].map((subject) => plan.strike(subject) !== undefined)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("applies only to requests that contain its text", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "*", match: "pool-b", times: 9 });
    expect(plan.strike(run)).toBeUndefined();
    expect(plan.strike({ ...run, subjects: ["pool-b-7"] })).toBeDefined();
  });

  it("applies to a share of the requests by its probability", () => {
    const plan = createFaultPlan(seededRandom(7));
    plan.add({ operation: "*", probability: 0.3, times: 1_000 });
    const met = Array.from({ length: 1_000 }, () => plan.strike(run)).filter((rule) => rule !== undefined).length;
    expect(met).toBeGreaterThan(230);
    expect(met).toBeLessThan(370);
  });

  it("is empty after `clear`", () => {
    const plan = createFaultPlan(seededRandom(1));
    plan.add({ operation: "*" });
    plan.clear();
    expect(plan.strike(run)).toBeUndefined();
  });
});
