import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countWhere, isAvailable, machinesWhere, predicateFor } from "@millwright/controllers/decisions";
import { aMachine, inPhase, labeled, named } from "@millwright/controllers/testing";
import { type TrackedMachines, trackMachines } from "./tracked-machines.ts";

const machine = (index: number, phase: "Running" | "Pending" = "Running"): Machine =>
  aMachine(named(`m${index}`), inPhase(phase));

function manyRunning(count: number): TrackedMachines {
  const tracked = trackMachines();
  for (let index = 0; index < count; index++) tracked.put(machine(index));
  return tracked;
}

/** A predicate about phases that counts its evaluations. */
function counting() {
  let evaluations = 0;
  const isPending = ({ status }: Machine): boolean => {
    evaluations++;
    return status?.currentStatus?.phase === "Pending";
  };
  return { isPending, evaluations: () => evaluations };
}

describe("machinesWhere", () => {
  it("evaluates the machines of a tracked list once, and again those that have changed", () => {
    const tracked = manyRunning(100);
    const { isPending, evaluations } = counting();
    expect(machinesWhere(tracked.list(), isPending)).toEqual([]);
    expect(evaluations()).toBe(100);
    tracked.put(machine(7, "Pending"));
    tracked.put(machine(3, "Pending"));
    tracked.take("m50");
    expect(machinesWhere(tracked.list(), isPending).map(({ metadata }) => metadata.name)).toEqual(["m3", "m7"]);
    expect(countWhere(tracked.list(), isPending)).toBe(2);
    expect(evaluations()).toBe(102);
  });

  it("evaluates again a machine that its list is touched for", () => {
    const tracked = manyRunning(2);
    const withNode = new Set<string>();
    const hasNode = ({ metadata }: Machine): boolean => withNode.has(metadata.name);
    expect(countWhere(tracked.list(), hasNode)).toBe(0);
    withNode.add("m1");
    tracked.touch("m1");
    expect(machinesWhere(tracked.list(), hasNode).map(({ metadata }) => metadata.name)).toEqual(["m1"]);
  });

  it("gives the list itself when the predicate holds for all", () => {
    const tracked = manyRunning(3);
    expect(machinesWhere(tracked.list(), isAvailable)).toBe(tracked.list());
  });

  it("answers for a list that is not up to date from that list", () => {
    const tracked = manyRunning(3);
    const before = tracked.list();
    tracked.put(machine(0, "Pending"));
    expect(countWhere(before, isAvailable)).toBe(3);
    expect(countWhere(tracked.list(), isAvailable)).toBe(2);
  });

  it("finds what a walk over the list finds, whatever happened to it", () => {
    const isPending = counting().isPending;
    const index = fc.nat(5);
    const change = fc.oneof(
      fc.record({ put: index, phase: fc.constantFrom("Running" as const, "Pending" as const) }),
      fc.record({ take: index }),
      fc.constant("look" as const),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const tracked = trackMachines();
        for (const each of changes) {
          if (each === "look") machinesWhere(tracked.list(), isPending);
          else if ("put" in each) tracked.put(machine(each.put, each.phase));
          else tracked.take(`m${each.take}`);
        }
        const expected = tracked.list().filter(isPending);
        expect(machinesWhere(tracked.list(), isPending)).toEqual(expected);
        expect(countWhere(tracked.list(), isPending)).toBe(expected.length);
      }),
    );
  });
});

describe("predicateFor", () => {
  const hasLabels =
    (labels: Readonly<Record<string, string>>) =>
    ({ metadata }: Machine): boolean =>
      Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);

  it("is one predicate for subjects with the same fields", () => {
    const list = manyRunning(1).list();
    const inZone = predicateFor(list, hasLabels, { zone: "1" });
    expect(predicateFor(list, hasLabels, { zone: "1" })).toBe(inZone);
    expect(predicateFor(list, hasLabels, { zone: "2" })).not.toBe(inZone);
    expect(predicateFor(list, hasLabels, { zone: "1", other: "1" })).not.toBe(inZone);
    expect(predicateFor(list, hasLabels, { region: "1" })).not.toBe(inZone);
    expect(inZone(aMachine(labeled({ zone: "1" })))).toBe(true);
  });

  it("forgets the subject that it was not asked about for the longest time", () => {
    const list = manyRunning(1).list();
    const first = predicateFor(list, hasLabels, { zone: "0" });
    for (let index = 1; index < 8; index++) predicateFor(list, hasLabels, { zone: String(index) });
    expect(predicateFor(list, hasLabels, { zone: "0" })).toBe(first);
    predicateFor(list, hasLabels, { zone: "8" });
    expect(predicateFor(list, hasLabels, { zone: "0" })).not.toBe(first);
  });
});
