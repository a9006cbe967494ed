import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchByProviderId } from "../../model/pick-node.ts";
import { aMachine, beingDeleted, createdAt, named } from "../../testing/builders.ts";
import { itsNode } from "../../testing/snapshots.ts";
import { competingMachines } from "./competing-machines.ts";

const node = itsNode();
const ofVm = (providerID: string) => ({ spec: { providerID } });
const mine = aMachine(named("m"), ofVm("vm-m"));

describe("competingMachines", () => {
  it.each<[string, Machine, readonly string[]]>([
    ["none but its own", mine, []],
    ["that of the machine whose VM it is", aMachine(named("z"), ofVm("vm-1")), ["z"]],
    ["that of an older machine", aMachine(named("z"), ofVm("vm-z"), createdAt("2025-01-01T00:00:00Z")), ["z"]],
    ["not that of a younger one", aMachine(named("a"), ofVm("vm-a"), createdAt("2026-02-01T00:00:00Z")), []],
    ["that of the first by name, of the same age", aMachine(named("a"), ofVm("vm-a")), ["a"]],
    ["not that of one that is being deleted", aMachine(named("a"), ofVm("vm-a"), beingDeleted()), []],
    ["not that of one without a VM", aMachine(named("a")), []],
  ])("finds %s", (_, other, expected) => {
    expect(competingMachines(node, mine, [mine, other, other], matchByProviderId)).toEqual(expected);
  });

  it("leaves exactly one of several machines without a better one", () => {
    const machines = fc.uniqueArray(
      fc
        .tuple(
          fc.constantFrom("a", "b", "c", "d"),
          fc.constantFrom("vm-2", "vm-1"),
          fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        )
        .map(([name, providerID, at]) => aMachine(named(name), createdAt(at), ofVm(providerID))),
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
