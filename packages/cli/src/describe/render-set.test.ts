import { expect, it } from "vitest";
import { renderSet } from "./render-set.ts";

const report = {
  name: "pool-a",
  namespace: "default",
  deployment: "pool",
  isObserved: true,
  revision: "3",
  className: "large",
  desired: 3,
  ready: 1,
  available: 1,
  phases: { Pending: 1, Running: 1 },
  conditions: [
    { type: "ScalingUp", status: "True", since: "", reason: "ScalingUp", message: "Scaling up from 2 to 3 replicas" },
  ],
  failed: [],
  notes: [],
};

it("shows to whom a set belongs, its size, machines by phase, and conditions", () => {
  expect(renderSet(report)).toBe(
    [
      "Name:        pool-a",
      "Namespace:   default",
      "Deployment:  pool",
      "Revision:    3",
      "Class:       large",
      "Machines:    3 desired, 1 ready, 1 available: 1 Pending, 1 Running",
      "Conditions:",
      "  TYPE       STATUS  SINCE  REASON     MESSAGE",
      "  ScalingUp  True    -      ScalingUp  Scaling up from 2 to 3 replicas",
      "",
    ].join("\n"),
  );
});

it("reports conditions of an older spec, and missing values", () => {
  const text = renderSet({
    ...report,
    isObserved: false,
    deployment: "",
    revision: "",
    className: "\u001b[31m",
    phases: {},
  });
  expect(text).toContain(
    "Deployment:  -\nRevision:    -\nClass:        [31m\nMachines:    3 desired, 1 ready, 1 available: -\n",
  );
  expect(text).toContain("The controllers have not observed the last change yet.");
});
