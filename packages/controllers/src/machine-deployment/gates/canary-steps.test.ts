import { annotationKeys } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachineDeployment, annotated } from "../../testing/builders.ts";
import { machinesOf, readCanarySteps } from "./canary-steps.ts";

const read = (text: string) => readCanarySteps(aMachineDeployment(annotated({ [annotationKeys.canarySteps]: text })));

it("reads sizes in machines and percent, times and pauses", () => {
  expect(readCanarySteps(aMachineDeployment())).toEqual({ ok: true, steps: [] });
  expect(read("1/10m, 25% / 1h30m ,50%/pause")).toEqual({
    ok: true,
    steps: [
      { size: 1, wait: 600_000 },
      { size: "25%", wait: 5_400_000 },
      { size: "50%", wait: "pause" },
    ],
  });
});

it.each([
  ["", "`` is not a step"],
  ["10%", "`10%` is not a step"],
  ["0%/5m", "`0%/5m` is not a step"],
  ["10%/-5m", "is not a step"],
  ["10%/5", "is not a step"],
  ["x/5m", "is not a step"],
  ["10%/5m/pause", "is not a step"],
  ["10%/5m,10%/5m", "`10%/5m` is not greater than the step before it"],
  ["5/5m,4/5m", "`4/5m` is not greater"],
  ["1/5m,".repeat(50) + "1/5m", "more than 50 steps"],
  ["1".repeat(1001), "longer than 1000 characters"],
])("refuses %j", (text, problem) => {
  const result = read(text);
  expect(result.ok ? "" : result.problem).toContain(problem);
});

it("rounds percentages up, and never asks for more machines than there are to be", () => {
  expect(machinesOf({ size: "1%", wait: 0 }, 20)).toBe(1);
  expect(machinesOf({ size: "12%", wait: 0 }, 20)).toBe(3);
  expect(machinesOf({ size: "300%", wait: 0 }, 20)).toBe(20);
  expect(machinesOf({ size: 50, wait: 0 }, 20)).toBe(20);
  expect(machinesOf({ size: "50%", wait: 0 }, 0)).toBe(0);
});
