import { annotationKeys, type Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineSet,
  annotated,
  aNode,
  beingDeleted,
  type Change,
  createdAt,
  inPhase,
  named,
} from "../testing/builders.ts";
import { countAutoPreserved, planAutoPreservation, withPreservation } from "./plan-preserve-annotations.ts";

const { preserve, lastAppliedNodePreserveValue } = annotationKeys;
/** A Failed machine created on the n-th day. */
const failed = (day: number, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(named(`m${day}`), createdAt(`2026-01-0${day}T00:00:00Z`), inPhase("Failed"), ...changes);
const auto = annotated({ [preserve]: "auto-preserved" });
const preserving = (value: string) => annotated({ [preserve]: value });
const setOf = (max: number | null) => aMachineSet({ spec: { autoPreserveFailedMachineMax: max } });

/** The plan as text: `+m1 -m2`. */
const planOf = (max: number | null, machines: readonly Machine[]): string =>
  [...planAutoPreservation(setOf(max), machines)]
    .map(([name, value]) => `${value === null ? "-" : "+"}${name}`)
    .join(" ");

describe("planAutoPreservation", () => {
  it.each<[string, number | null, readonly Machine[], string]>([
    ["takes the oldest back when the number is lowered", 0, [failed(2, auto), failed(1, auto)], "-m1 -m2"],
    ["takes back no more than it must", 1, [failed(2, auto), failed(1, auto)], "-m1"],
    ["keeps no failure where none is to be kept", 0, [failed(1)], ""],
    ["keeps none without the field", null, [failed(1)], ""],
    ["keeps no more when all places are taken", 2, [failed(1, auto), failed(2, auto), failed(3)], ""],
    ["keeps a failure while there is a place", 2, [failed(1)], "+m1"],
    ["leaves out those that must not be kept", 2, [failed(1), failed(2, preserving("false")), failed(3)], "+m3 +m1"],
    ["prefers the newest failure", 1, [failed(1), failed(2)], "+m2"],
    ["decides by name between machines of one second", 1, [failed(1), failed(1, named("m0"))], "+m1"],
    ["counts a kept machine that recovered", 1, [failed(1, auto, inPhase("Running")), failed(2)], ""],
    [
      "leaves machines alone that users preserve",
      2,
      [failed(1, preserving("now")), failed(2, preserving("when-failed"))],
      "",
    ],
    ["ignores an invalid value", 1, [failed(1, preserving("please"))], "+m1"],
    ["keeps only failures", 3, [failed(1, inPhase("Unknown")), failed(2, inPhase("Running"))], ""],
    ["keeps none that is going", 1, [failed(1, beingDeleted())], ""],
    ["lets one that is going hold its place, and takes nothing back from it", 0, [failed(1, auto, beingDeleted())], ""],
    [
      "gives none a second preservation",
      1,
      [failed(1, { status: { currentStatus: { preserveExpiryTime: "2026-01-01T12:00:00Z" } } })],
      "",
    ],
  ])("%s", (_, max, machines, expected) => {
    expect(planOf(max, machines)).toBe(expected);
  });

  it("keeps none whose node decides, for its own annotation would mean nothing", () => {
    const node = aNode({ metadata: { annotations: { [preserve]: "false" } } });
    const silent = failed(2, annotated({ [lastAppliedNodePreserveValue]: "now" }));
    const nodes = new Map([
      ["m1", node],
      ["m2", aNode()],
    ]);
    expect(planAutoPreservation(setOf(2), [failed(1), silent], nodes).size).toBe(0);
    // Without a node only the machine can be asked.
    expect(planAutoPreservation(setOf(2), [silent]).size).toBe(1);
  });

  it("never keeps more than it may, and comes to rest after one pass", () => {
    const kind = fc.record({
      value: fc.constantFrom(undefined, "auto-preserved", "false", "now", "please"),
      phase: fc.constantFrom("Failed" as const, "Running" as const, "Unknown" as const),
    });
    fc.assert(
      fc.property(fc.nat(4), fc.array(kind, { maxLength: 7 }), (max, kinds) => {
        const machines = kinds.map(({ value, phase }, index) =>
          failed(index + 1, inPhase(phase), value === undefined ? {} : preserving(value)),
        );
        const plan = planAutoPreservation(setOf(max), machines);
        const after = machines.map((machine) => withPreservation(machine, plan));
        expect(countAutoPreserved(after)).toBeLessThanOrEqual(max);
        expect(planAutoPreservation(setOf(max), after).size).toBe(0);
      }),
    );
  });
});

it("shows a machine as the plan makes it, and leaves its other annotations", () => {
  const machine = failed(1, annotated({ other: "x", [preserve]: "auto-preserved" }));
  const changed = (value: "auto-preserved" | null) => withPreservation(machine, new Map([["m1", value]])).metadata;
  expect(changed(null).annotations).toEqual({ other: "x" });
  expect(changed("auto-preserved").annotations).toEqual({ other: "x", [preserve]: "auto-preserved" });
  expect(withPreservation(machine, new Map())).toBe(machine);
});
