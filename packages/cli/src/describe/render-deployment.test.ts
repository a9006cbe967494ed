import type { DeploymentReport } from "@millwright/runtime";
import { expect, it } from "vitest";
import { renderDeployment } from "./render-deployment.ts";

const report: DeploymentReport = {
  name: "pool",
  namespace: "default",
  isObserved: true,
  strategy: "RollingUpdate",
  className: "large",
  desired: 3,
  ready: 2,
  available: 2,
  updated: 1,
  conditions: [
    {
      type: "RollingOut",
      status: "True",
      since: "2026-01-01T00:00:00Z",
      reason: "RollingOut",
      message: "Rolling out 2 not up-to-date replicas\n* Rollout is paused",
    },
  ],
  sets: [
    { name: "pool-a", revision: "2", isCurrent: true, className: "large", desired: 1, phases: { Running: 1 } },
    { name: "pool-b", revision: "", isCurrent: false, className: "", desired: 2, phases: {} },
  ],
  failed: [{ name: "pool-a-1", message: "no \u001b[31mquota\nat all" }],
  notes: ["something \u001b[31melse"],
};

it("shows size, sets with their machines, conditions and failures, with no control character that a terminal would obey", () => {
  expect(renderDeployment(report)).toBe(
    [
      "Name:       pool",
      "Namespace:  default",
      "Strategy:   RollingUpdate",
      "Class:      large",
      "Machines:   3 desired, 1 up to date, 2 ready, 2 available",
      "Sets:",
      "  NAME              REVISION  CLASS  DESIRED  MACHINES",
      "  pool-a (current)  2         large  1        1 Running",
      "  pool-b            -         -      2        -",
      "Conditions:",
      "  TYPE        STATUS  SINCE                 REASON      MESSAGE",
      "  RollingOut  True    2026-01-01T00:00:00Z  RollingOut  Rolling out 2 not up-to-date replicas",
      "                                                        * Rollout is paused",
      "Failed machines:",
      "  pool-a-1: no  [31mquota at all",
      "Notes:",
      "  something  [31melse",
      "",
    ].join("\n"),
  );
});

it("reports conditions of an older spec, and leaves out empty sections", () => {
  const text = renderDeployment({ ...report, isObserved: false, sets: [], failed: [], notes: [], className: "" });
  expect(text).toContain("The controllers have not observed the last change yet.");
  expect(text).toContain("Class:      -");
  expect(text).not.toMatch(/Sets:|Failed machines:|Notes:/);
});
