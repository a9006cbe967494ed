import type { Machine } from "@millwright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchByProviderId } from "../../model/pick-node.ts";
import { aMachine, beingDeleted, createdAt, named } from "../../testing/builders.ts";
import { itsNode } from "../../testing/snapshots.ts";
import { competingMachines } from "./competing-machines.ts";

const node = itsNode();
const mine = aMachine(named("m"));

describe("competingMachines", () => {
  it.each<[string, Machine, readonly string[]]>([
    ["none but its own", mine, []],
    ["that of the machine whose VM it is", aMachine(named("z"), { spec: { providerID: "vm-1" } }), ["z"]],
    ["that of an older machine", aMachine(named("z"), createdAt("2025-01-01T00:00:00Z")), ["z"]],
    ["not that of a younger one", aMachine(named("a"), createdAt("2026-02-01T00:00:00Z")), []],
    ["that of the first by name, of the same age", aMachine(named("a")), ["a"]],
    ["not that of one that is being deleted", aMachine(named("a"), beingDeleted()), []],
  ])("finds %s", (_, other, expected) => {
    expect(competingMachines(node, mine, [mine, other, other], matchByProviderId)).toEqual(expected);
  });

  it("leaves exactly one of several machines without a better one", () => {
    const machines = fc.uniqueArray(
      fc
        .tuple(
          fc.constantFrom("a", "b", "c", "d"),
          fc.constantFrom("", "vm-1"),
          fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        )
        .map(([name, providerID, at]) => aMachine(named(name), createdAt(at), { spec: { providerID } })),
      { selector: ({ metadata }) => metadata.name, minLength: 1 },
    );
    fc.assert(
      fc.property(machines, fc.constantFrom(node, itsNode({ spec: { providerID: "" } })), (claimants, claimed) => {
        expect(
          claimants.filter((machine) => competingMachines(claimed, machine, claimants, matchByProviderId).length === 0),
        ).toHaveLength(1);
      }),
    );
  });
});
