import { describe, expect, it } from "vitest";
import type { Condition, ConditionState } from "@millwright/kube";
import { inOrderIfChanged, setConditions, withoutAddedConditions } from "./set-conditions.ts";

const entry = (type: string, status = "False"): Condition => ({ type, status, reason: "R", message: "" });
const typesOf = (list: readonly Condition[]): readonly string[] => list.map(({ type }) => type);
const state = (type: string): ConditionState => ({ type, status: "False", reason: "R", message: "" });

describe("the list of conditions", () => {
  it("has MCM's first, then Cluster API's, unknown ones by name, Paused and Deleting, and those for kstatus", () => {
    const types = [
      "Stalled",
      "Reconciling",
      "Deleting",
      "Paused",
      "Zeta",
      "SpecValid",
      "Alpha",
      "MachinesUpToDate",
      "MachinesReady",
      "ScalingUp",
    ];
    types.push("ScalingDown", "Remediating", "RollingOut", "Frozen", "ReplicaFailure", "Progressing", "Available");
    const list = types.map((type) => entry(type));
    expect(typesOf(inOrderIfChanged(list, undefined))).toEqual([
      "Available",
      "Progressing",
      "ReplicaFailure",
      "Frozen",
      "RollingOut",
      "Remediating",
      "ScalingDown",
      "ScalingUp",
      "MachinesReady",
      "MachinesUpToDate",
      "Alpha",
      "SpecValid",
      "Zeta",
      "Paused",
      "Deleting",
      "Reconciling",
      "Stalled",
    ]);
  });

  it("keeps its order when nothing in it changes", () => {
    const list = [entry("Paused"), entry("Available")];
    expect(inOrderIfChanged(list, list)).toBe(list);
    expect(setConditions(list, [state("Paused"), state("Available")], { now: new Date(0) })).toBe(list);
  });

  it("removes Cluster API's, those for kstatus, and SpecValid unless it is False, and keeps those of other clients", () => {
    const list = [entry("Available", "True"), entry("RollingOut"), entry("Foreign"), entry("SpecValid", "True")];
    list.push(entry("Reconciling", "True"), entry("Stalled", "True"));
    expect(typesOf(withoutAddedConditions(list))).toEqual(["Available", "Foreign"]);
    const mcm = [entry("Available"), entry("SpecValid")];
    expect(withoutAddedConditions(mcm)).toBe(mcm);
  });
});
