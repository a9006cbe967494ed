import { deploymentRow, lifecycleSteps, machineRow } from "@millwright/dashboard/rows";
import type { Machine, MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { viewOf } from "./view.ts";

const machine = (name: string, status: Machine["status"], metadata: Partial<Machine["metadata"]> = {}) =>
  machineRow(
    { metadata: { name, namespace: "default", ...metadata }, spec: {}, status } as Machine,
    metadata.labels?.["held"] === "yes",
  );
const running = machine("a", { currentStatus: { phase: "Running" } });
const failed = machine("z", {
  currentStatus: { phase: "Failed" },
  lastOperation: { description: "quota", state: "Failed", type: "Create", lastUpdateTime: "2026-01-01T00:00:00Z" },
});
const creating = machine("m", {});
const draining = machine(
  "d",
  { currentStatus: { phase: "Terminating" } },
  { deletionTimestamp: "2026-01-01T00:00:00Z" },
);
const held = machine(
  "h",
  { currentStatus: { phase: "Terminating" } },
  { deletionTimestamp: "2026-01-01T00:00:00Z", labels: { held: "yes" } },
);

const view = (filter = "", deployments: readonly MachineDeployment[] = []) =>
  viewOf([running, creating, failed, draining, held], deployments.map(deploymentRow), {
    filter,
    steps: lifecycleSteps,
  });

describe("viewOf", () => {
  it("has failing machines first, then those that need attention, then those under way", () => {
    expect(view().machines.map(({ name }) => name)).toEqual(["z", "h", "d", "m", "a"]);
  });

  it("counts machines by state in the order of their lives, failures first", () => {
    expect(view().states).toEqual([
      ["Failed", 1],
      ["Creating", 1],
      ["Running", 1],
      ["Drain", 1],
      ["Held", 1],
    ]);
  });

  it("counts deletions under way apart from those that are held", () => {
    expect(view()).toMatchObject({ deleting: 1, held: 1, total: 5 });
  });

  it.each([
    ["quota", ["z"]],
    ["DRAIN", ["h", "d"]],
    ["held", ["h"]],
    ["running nothing", []],
    ["default running", ["a"]],
  ])("filters by the words %j, and keeps the counts of all", (filter, names) => {
    expect(view(filter).machines.map(({ name }) => name)).toEqual(names);
    expect(view(filter).total).toBe(5);
  });

  it("has what the controllers report about held deletions", () => {
    const condition = {
      type: "DeletionsHeld",
      status: "True",
      reason: "ApprovalRequired",
      message: "Deletion of 15 machines is held: at most 10 of 15 machines may be lost within an hour",
    };
    const deployment = { metadata: { name: "pool" }, spec: {}, status: { conditions: [condition] } };
    expect(view("", [deployment as unknown as MachineDeployment]).heldTexts).toEqual([`pool: ${condition.message}`]);
  });
});
