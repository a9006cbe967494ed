import { describe, expect, it } from "vitest";
import { isMachinePhase, phaseOf, phases, type MachinePhase } from "./phases.ts";
import { allowsTransition, phaseTransitions } from "./phase-transitions.ts";

const names = Object.keys(phases).filter(isMachinePhase);

describe("phaseOf", () => {
  it("takes a missing phase for the empty one", () => {
    expect(phaseOf({})).toBe("");
    expect(phaseOf({ status: { currentStatus: {} } })).toBe("");
    expect(phaseOf({ status: { currentStatus: { phase: "Running" } } })).toBe("Running");
  });

  it("does not take an unknown phase for the empty one, which would create a VM", () => {
    expect(phaseOf({ status: { currentStatus: { phase: "Hibernated" } } })).toBeUndefined();
    expect(phaseOf({ status: { currentStatus: { phase: "constructor" } } })).toBeUndefined();
  });
});

describe("the transition table", () => {
  it("has the twenty rows of the reference, in order, and after them our own", () => {
    expect(phaseTransitions.map(({ row }) => row)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  });

  it("reaches every phase from the empty one", () => {
    const reached = new Set<MachinePhase>([""]);
    for (let size = 0; size < reached.size;) {
      size = reached.size;
      for (const from of reached) for (const to of names) if (allowsTransition(from, to)) reached.add(to);
    }
    expect([...reached].toSorted()).toEqual(names.toSorted());
  });

  it("lets nothing leave Terminating, and nothing come back to the empty phase", () => {
    expect(names.filter((to) => allowsTransition("Terminating", to))).toEqual(["Terminating"]);
    expect(names.filter((from) => allowsTransition(from, ""))).toEqual([""]);
  });

  it("does not create again for a machine that has failed", () => {
    expect(names.filter((to) => allowsTransition("Failed", to))).toEqual(["Running", "Failed", "Terminating"]);
  });
});
