import type { DeploymentReport } from "@millwright/runtime";
import { expect, it } from "vitest";
import { renderDeployment } from "./render-deployment.ts";

const layout = { now: new Date("2026-01-01T00:10:00Z"), width: 62, paint: (_: unknown, text: string): string => text };
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
    { name: "pool-b", revision: "", isCurrent: false, className: "", desired: 2, phases: { "Terminating (held)": 2 } },
  ],
  failed: [],
  tree: {
    kind: "MachineDeployment",
    name: "pool",
    others: [],
    state: "stuck",
    summary: "3 desired",
    causes: [{ reason: "Paused", message: "It is paused", since: "2026-01-01T00:05:00Z" }],
    children: [
      {
        kind: "Machine",
        name: "pool-a-1",
        others: ["pool-a-2", "pool-a-3", "pool-a-4"],
        state: "stuck",
        summary: "Failed",
        since: "2026-01-01T00:07:00Z",
        causes: [{ reason: "Quota", message: "no \u001b[31mquota at all", since: "2026-01-01T00:07:00Z" }],
        attempts: { count: 3, lastAt: "2026-01-01T00:09:00Z", nextAt: "2026-01-01T00:11:00Z" },
        deadline: { time: "2026-01-01T00:20:00Z", effect: "it ends" },
        children: [{ kind: "Node", name: "n", others: [], state: "ok", summary: "Ready", causes: [], children: [] }],
      },
    ],
  },
  notes: ["something \u001b[31melse"],
};

it("shows size, sets with their machines, conditions and failures, with no control character that a terminal would obey", () => {
  expect(renderDeployment(report, layout)).toBe(
    [
      "Name:       pool",
      "Namespace:  default",
      "Strategy:   RollingUpdate",
      "Class:      large",
      "Machines:   3 desired, 1 up to date, 2 ready, 2 available",
      "Sets:",
      "  NAME              REVISION  CLASS  DESIRED  MACHINES",
      "  pool-a (current)  2         large  1        1 Running",
      "  pool-b            -         -      2        2 Terminating (held)",
      "",
      "MachineDeployment pool: 3 desired  [stuck]",
      "│   Paused (for 5m): It is paused",
      "└─ 4 Machines pool-a-1, pool-a-2, pool-a-3 and 1",
      "   │   more: Failed for 3m  [stuck]",
      "   │   Quota: no [31mquota at all",
      "   │   3 attempts, the last 60s ago; the next in 60s at the",
      "   │     earliest; in 10m at the latest it ends",
      "   └─ Node n: Ready",
      "",
      "Conditions:",
      "  TYPE        STATUS  SINCE                 REASON      MESSAGE",
      "  RollingOut  True    2026-01-01T00:00:00Z  RollingOut  Rolling out 2 not up-to-date replicas",
      "                                                        * Rollout is paused",
      "Notes:",
      "  something  [31melse",
      "",
    ].join("\n"),
  );
});

it("breaks texts between words on a terminal", () => {
  const long = "word ".repeat(40).trim();
  const [first] = report.sets;
  const phases = Object.fromEntries(["CrashLoopBackOff", "InPlaceUpdating", "Running"].map((phase) => [phase, 12]));
  const sets = first === undefined ? [] : [{ ...first, phases }];
  const text = renderDeployment({ ...report, sets, notes: [long] }, { ...layout, lineWidth: 80 });
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(text.match(/\bword\b/g)).toHaveLength(40);
});

it("paints what is not as desired", () => {
  const paint = (state: string, text: string): string => (text === "" ? "" : `<${state}:${text}>`);
  expect(renderDeployment(report, { ...layout, paint })).toContain(
    "<stuck:MachineDeployment pool: 3 desired><stuck:  [stuck]>\n",
  );
});

it("reports conditions of an older spec, and leaves out empty sections", () => {
  const text = renderDeployment({ ...report, isObserved: false, notes: [], className: "" }, layout);
  expect(text).toContain("The controllers have not observed the last change yet.");
  expect(text).toContain("Class:      -");
  expect(text).not.toMatch(/Notes:/);
});
