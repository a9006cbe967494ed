import { describe, expect, it } from "vitest";
import { aMachineSet, annotated, beingDeleted, type Change, named } from "../../testing/builders.ts";
import type { MachineSet } from "@millwright/core/machine-api";
import { unlimited } from "../state/rollout-gates.ts";
import { releasedSetsGate } from "./released-sets.ts";

const now = new Date("2026-01-01T12:00:00Z");
const released = (name: string, time: string, change: Change<MachineSet> = {}): MachineSet =>
  aMachineSet(named(name), annotated({ "machine.millwright.dev/released-from": `uid-pool/${time}` }), change);
const recent = released("a", "2026-01-01T11:30:00Z");
const old = released("b", "2026-01-01T09:00:00Z");

describe("a deployment that released sets", () => {
  it("creates none for an hour, and names the set and what to do", () => {
    const gate = releasedSetsGate([recent], now);
    expect(gate.blocksCreation).toBe(
      "Cannot create a MachineSet: labels of MachineSet a no longer match the selector. Restore the labels, delete what was released, or remove its annotation machine.millwright.dev/released-from",
    );
    expect(gate.requeueAt).toEqual(new Date("2026-01-01T12:30:00Z"));
  });

  it("creates the next one after that hour, but no third one", () => {
    expect(releasedSetsGate([old], now)).toEqual(unlimited);
    expect(releasedSetsGate([released("c", "soon")], now)).toEqual(unlimited);
    const gate = releasedSetsGate([old, released("a", "2026-01-01T08:00:00Z")], now);
    expect(gate.blocksCreation).toContain("labels of 2 MachineSets, among them a, no longer match");
    expect(gate).not.toHaveProperty("requeueAt");
  });

  it("does not count one that is deleted", () => {
    expect(releasedSetsGate([released("a", "2026-01-01T11:30:00Z", beingDeleted())], now)).toEqual(unlimited);
    expect(releasedSetsGate([], now)).toEqual(unlimited);
  });
});
