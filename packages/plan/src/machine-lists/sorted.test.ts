import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortedBy } from "@millwright/controllers/decisions";
import { aMachine, createdAt, named } from "@millwright/controllers/testing";
import { trackMachines } from "./tracked-machines.ts";

const machine = (index: number, second: number): Machine =>
  aMachine(named(`m${index}`), createdAt(`2026-01-01T00:00:${String(second).padStart(2, "0")}Z`));

const createdOf = ({ metadata }: Machine): readonly number[] => [Date.parse(metadata.creationTimestamp ?? "")];

describe("sortedBy", () => {
  it("gives the order of a list without a track", () => {
    const [young, old] = [machine(1, 5), machine(2, 3)];
    expect(sortedBy([young, old], createdOf)).toEqual([old, young]);
  });

  it("reads only what has changed in a tracked list", () => {
    const tracked = trackMachines();
    for (let index = 0; index < 1_000; index++) tracked.put(machine(index, index % 60));
    let reads = 0;
    const keyOf = (each: Machine): readonly number[] => {
      reads++;
      return createdOf(each);
    };
    sortedBy(tracked.list(), keyOf);
    reads = 0;
    tracked.put(machine(500, 1));
    tracked.take("m3");
    expect(sortedBy(tracked.list(), keyOf)).toHaveLength(999);
    expect(reads).toBe(1);
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
          if (each === "look") sortedBy(tracked.list(), createdOf);
          else if ("put" in each) tracked.put(machine(each.put, each.second));
          else if ("take" in each) tracked.take(`m${each.take}`);
          else tracked.touch(`m${each.touch}`);
        }
        expect(sortedBy(tracked.list(), createdOf)).toEqual(sortedBy([...tracked.list()], createdOf));
      }),
    );
  });
});
