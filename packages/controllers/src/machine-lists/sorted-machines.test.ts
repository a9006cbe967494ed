import type { Machine } from "@millwright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, createdAt, named } from "../testing/builders.ts";
import { sortedMachines } from "./sorted-machines.ts";
import { trackMachines } from "./tracked-machines.ts";

const machine = (index: number, second: number): Machine =>
  aMachine(named(`m${index}`), createdAt(`2026-01-01T00:00:${String(second).padStart(2, "0")}Z`));

const createdOf = ({ metadata }: Machine): string => metadata.creationTimestamp ?? "";

const oldestFirst = (a: Machine, b: Machine): number => {
  if (createdOf(a) !== createdOf(b)) return createdOf(a) < createdOf(b) ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};

describe("sortedMachines", () => {
  it("gives the order of a list without a track", () => {
    const [young, old] = [machine(1, 5), machine(2, 3)];
    expect(sortedMachines([young, old], oldestFirst)).toEqual([old, young]);
  });

  it("compares only what has changed in a tracked list", () => {
    const tracked = trackMachines();
    for (let index = 0; index < 1_000; index++) tracked.put(machine(index, index % 60));
    let comparisons = 0;
    const order = (a: Machine, b: Machine): number => {
      comparisons++;
      return oldestFirst(a, b);
    };
    sortedMachines(tracked.list(), order);
    comparisons = 0;
    tracked.put(machine(500, 1));
    tracked.take("m3");
    expect(sortedMachines(tracked.list(), order)).toHaveLength(999);
    // Two are found and one is put in, of a thousand: ten halvings each.
    expect(comparisons).toBeLessThanOrEqual(30);
  });

  it("is the order of a walk over the list, whatever happened to it", () => {
    const index = fc.nat(5);
    const change = fc.oneof(
      fc.record({ put: index, second: fc.nat(3) }),
      fc.record({ take: index }),
      fc.record({ touch: index }),
      fc.constant("look" as const),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const tracked = trackMachines();
        for (const each of changes) {
          if (each === "look") sortedMachines(tracked.list(), oldestFirst);
          else if ("put" in each) tracked.put(machine(each.put, each.second));
          else if ("take" in each) tracked.take(`m${each.take}`);
          else tracked.touch(`m${each.touch}`);
        }
        expect(sortedMachines(tracked.list(), oldestFirst)).toEqual(tracked.list().toSorted(oldestFirst));
      }),
    );
  });
});
