import type { MachineSet } from "@millwright/core/machine-api";
import { stateOfHold } from "../model/hold-condition.ts";
import { describe, expect, it, test } from "vitest";
import { aMachine, aMachineSet, annotated, type Change, named, ownedBy } from "../testing/builders.ts";
import { decideFreeze } from "./freeze-set.ts";
import { releasedFrom, releasedMachines } from "./released-machines.ts";

const now = new Date("2026-01-01T12:00:00Z");
const released = (name: string, minutesAgo: number, ownerUid = "uid-set") => {
  const at = new Date(now.getTime() - minutesAgo * 60_000).toISOString().replace(".000Z", "Z");
  return aMachine(named(name), annotated({ "machine.millwright.dev/released-from": `${ownerUid}/${at}` }));
};

describe("released machines", () => {
  it("are those that name the set and have no controller", () => {
    const machines = [released("a", 1), released("b", 1, "uid-other"), aMachine(named("c"))];
    const adopted = aMachine(released("d", 1), ownedBy(aMachineSet()));
    expect(releasedFrom("uid-set", [...machines, adopted]).map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  it("count for an hour against the maximum of the set", () => {
    expect(releasedMachines([released("b", 59), released("a", 61)], now)).toEqual({
      names: ["a", "b"],
      recent: 1,
      changesInMs: 60_000,
    });
    const unreadable = aMachine(annotated({ "machine.millwright.dev/released-from": "uid-set" }));
    expect(releasedMachines([unreadable], now)).toEqual({ names: ["machine"], recent: 0 });
  });
});

describe("a set that loses machines", () => {
  const limits = { upper: 8, lower: 7 };
  const label = { metadata: { labels: { freeze: "True" } } };
  const frozen = (reason: string) => ({
    status: { machineSetCondition: [{ type: "Frozen", status: "True", reason, message: "why" }] },
  });
  const unfreeze = annotated({ "safety.machine.sapcloud.io/unfreeze": "" });
  const freezeOf = (changes: readonly Change<MachineSet>[], minutesAgo: readonly number[], before = 0) => {
    const machines = minutesAgo.map((minutes, index) => released(`m${index}`, minutes));
    return decideFreeze(aMachineSet(...changes), 0, limits, 0, releasedMachines(machines, now), before);
  };

  test.each<[string, readonly Change<MachineSet>[], readonly number[], number, boolean]>([
    ["is not frozen by two", [], [1, 1], 0, false],
    ["is frozen by three within an hour", [], [1, 30, 59], 2, true],
    ["is not frozen by three within two hours", [], [1, 30, 61], 2, false],
    ["is not frozen again by those that a user knows of", [], [1, 1, 1], 3, false],
    ["is frozen again by a further one", [], [1, 1, 1, 1], 3, true],
    ["stays frozen while they exist", [label, frozen("MachinesReleased")], [90, 90, 90], 3, true],
    ["is unfrozen when fewer exist", [label, frozen("MachinesReleased")], [90, 90], 3, false],
    ["is unfrozen by a user", [label, frozen("MachinesReleased"), unfreeze], [1, 1, 1], 3, false],
    [
      "is not kept frozen by old ones after it had too many",
      [label, frozen("OverShootingReplicaCount")],
      [90, 90, 90],
      3,
      false,
    ],
  ])("%s", (_, changes, minutesAgo, before, expected) => {
    expect(freezeOf(changes, minutesAgo, before).hold !== undefined).toBe(expected);
  });

  it("reports why, and what to do, in condition and event", () => {
    const message =
      "Labels of 4 machines no longer match the selector of MachineSet set: m0, m1, m2 and 1 more. Restore the labels, or delete these Machines";
    const { hold, because, patch } = freezeOf([], [1, 1, 1, 1]);
    expect(stateOfHold(hold)).toMatchObject({ type: "Frozen", status: "True", reason: "MachinesReleased", message });
    expect(because).toMatchObject([
      { reason: "FrozeMachineSet", message: `SafetyController: Froze MachineSet set: ${message}` },
    ]);
    expect(patch).toEqual({ metadata: { labels: { freeze: "True" } } });
    const later = freezeOf([label, frozen("MachinesReleased")], [1, 1, 1, 1], 4);
    expect([stateOfHold(later.hold), later.because]).toMatchObject([
      { reason: "MachinesReleased", message: "why" },
      [],
    ]);
  });
});
