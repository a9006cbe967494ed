import type { MachineReport } from "@millwright/runtime";
import { describe, expect, it } from "vitest";
import { ago, ahead } from "../terminal/relative-time.ts";
import { renderMachine } from "./render-machine.ts";

const now = new Date("2026-01-01T00:10:00Z");
const report: MachineReport = {
  name: "w-1",
  namespace: "default",
  phase: "CrashLoopBackOff",
  since: "2026-01-01T00:07:00Z",
  machineSet: "w-5b",
  machineDeployment: "w",
  machineClass: { name: "small", exists: false },
  providerId: "",
  node: { name: "", state: "missing" },
  lastOperation: {
    type: "Create",
    state: "Failed",
    errorCode: "ResourceExhausted",
    description: "no \u001b[31mquota\u001b[0m",
    lastUpdateTime: "2026-01-01T00:09:30Z",
  },
  conditions: [
    { type: "Ready", status: "False", reason: "NotReady", message: "* A: x\n* B: y" },
    { type: "Deleting", status: "False", reason: "NotDeleting", message: "" },
  ],
  history: [
    { time: "2026-01-01T00:09:30Z", operation: "Create", outcome: "ResourceExhausted", message: "no\nquota" },
    {},
  ],
  problems: [{ path: "spec.class", message: "is wrong", kind: "invalid" }],
  next: {
    controller: "Retries.",
    person: "Fix it.",
    deadline: { time: "2026-01-01T00:20:00Z", effect: "the machine becomes Failed" },
  },
};

describe("renderMachine", () => {
  it("reports why a terminating machine is kept", () => {
    const deletionPaused = "Deletion paused: CustomResourceDefinition machines.machine.sapcloud.io is being deleted";
    expect(renderMachine({ ...report, deletionPaused }, now)).toContain(`Deletion:        ${deletionPaused}\n`);
    expect(renderMachine(report, now)).not.toContain("Deletion:");
  });

  it("shows which taints keep pods off the node, and why they are there", () => {
    const taints = [
      { taint: "readiness.k8s.io/cni:NoSchedule", kind: "Startup" },
      { taint: "a=b:NoExecute", kind: "Foreign" },
    ] as const;
    expect(renderMachine({ ...report, taints }, now)).toMatch(
      /^Taints: +readiness\.k8s\.io\/cni:NoSchedule \(startup taint: pods wait until an agent removes it\)\n +a=b:NoExecute \(not in the template\)$/m,
    );
    expect(renderMachine(report, now)).not.toContain("Taints:");
  });

  it("shows which clocks differ", () => {
    const clockSkews = ["The clock of the controllers is 61 s ahead of that of the API server of the control cluster."];
    expect(renderMachine({ ...report, clockSkews }, now)).toContain(`Clocks:          ${clockSkews[0]}\n`);
    expect(renderMachine(report, now)).not.toContain("Clocks:");
  });

  it("shows everything, with no control character that a terminal would obey", () => {
    expect(renderMachine(report, now)).toBe(
      [
        "Name:            w-1",
        "Namespace:       default",
        "Phase:           CrashLoopBackOff for 3m",
        "Owner:           w / w-5b",
        "Class:           small (does not exist)",
        "VM:              -",
        "Node:            - (does not exist)",
        "Last operation:  Create Failed ResourceExhausted, 30s ago",
        "                 no  [31mquota [0m",
        "Conditions:",
        "  TYPE      STATUS  REASON       MESSAGE",
        "  Ready     False   NotReady     * A: x",
        "                                 * B: y",
        "  Deleting  False   NotDeleting",
        "History:",
        "  TIME                  OPERATION  OUTCOME            MESSAGE",
        "  2026-01-01T00:09:30Z  Create     ResourceExhausted  no quota",
        "",
        "Problems:",
        "  spec.class: is wrong",
        "What the controllers do:",
        "  Retries.",
        "  At 2026-01-01T00:20:00Z at the latest the machine becomes Failed.",
        "What you can do:",
        "  Fix it.",
        "",
      ].join("\n"),
    );
  });

  it("breaks texts between words on a terminal", () => {
    const long = "word ".repeat(40).trim();
    const text = renderMachine(
      {
        ...report,
        deletionPaused: long,
        lastOperation: { ...report.lastOperation, description: long },
        problems: [{ path: "spec", message: long, kind: "invalid" }],
        next: { controller: long, person: long },
      },
      now,
      80,
    );
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(text.match(/\bword\b/g)).toHaveLength(5 * 40);
  });

  it("leaves out empty sections", () => {
    const { since: _, machineSet: __, machineDeployment: ___, lastOperation: ____, ...rest } = report;
    const text = renderMachine(
      {
        ...rest,
        phase: "",
        machineClass: { name: "", exists: true },
        node: { name: "n", state: "unreachable" },
        history: [],
        problems: [],
        next: { controller: "c", person: "p" },
      },
      now,
    );
    expect(text).toContain("Phase:           (being created)\nOwner:           -\nClass:           -\n");
    expect(text).toContain("Node:            n (its API server is unreachable)\nLast operation:  -\n");
    expect(text).not.toMatch(/History|Problems|at the latest/);
  });
});

describe("ago", () => {
  it.each([
    ["2026-01-01T00:09:55Z", "5s"],
    ["2026-01-01T00:05:00Z", "5m"],
    ["2025-12-31T20:10:00Z", "4h"],
    ["2025-12-20T00:10:00Z", "12d"],
    ["2026-01-01T00:10:05Z", "0s"],
    [undefined, ""],
    ["x", ""],
  ])("of %s is %s", (time, expected) => {
    expect(ago(time, now)).toBe(expected);
  });
});

it.each([
  ["2026-01-01T00:10:05Z", "in 5s"],
  ["2026-01-01T00:25:00Z", "in 15m"],
  ["2026-01-01T00:10:00Z", "now"],
])("shows how far ahead %s is: %s", (time, expected) => {
  expect(ahead(time, now)).toBe(expected);
});
