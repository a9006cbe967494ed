import type { ListedMachine } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { decideOrphans, type OrphanDecision, type OrphanSnapshot } from "./decide-orphans.ts";
import { emptyQuarantine, maxQuarantined, type Quarantine } from "./quarantine.ts";

const MINUTE = 60_000;
const times = { minAgeMs: 20 * MINUTE, quarantineMs: 15 * MINUTE };
const vm: ListedMachine = { providerId: "vm-1", machineName: "a" };

const decide = (change: Partial<OrphanSnapshot>): OrphanDecision =>
  decideOrphans(
    {
      orphans: [vm],
      sightings: new Map(),
      quarantine: emptyQuarantine,
      doubt: undefined,
      machines: 10,
      startedMs: 100 * MINUTE,
      now: 1_000 * MINUTE,
      ...change,
    },
    times,
  );
const sightings = (agoMinutes: number, count = 1) =>
  new Map([["vm-1", { sinceMs: (100 - agoMinutes) * MINUTE, count }]]);
const since = (agoMinutes: number, machines = 10): Quarantine => ({
  machines,
  vms: new Map([["vm-1", { machine: "a", since: (1_000 - agoMinutes) * MINUTE }]]),
});

describe("a VM without machine", () => {
  it("is only remembered when it is seen for the first time", () => {
    expect(decide({})).toEqual({
      sightings: new Map([["vm-1", { sinceMs: 100 * MINUTE, count: 1 }]]),
      quarantine: { machines: 10, vms: new Map() },
      found: [],
      due: [],
    });
  });

  it.each([
    [19, 5, false],
    [20, 1, true],
    [20, 0, false],
  ])("seen since %i minutes, %i times before, is put in quarantine: %s", (ago, count, expected) => {
    const decision = decide({ sightings: sightings(ago, count) });
    expect(decision.found).toEqual(expected ? [vm] : []);
    expect(decision.due).toEqual([]);
    expect([...decision.quarantine.vms]).toEqual(expected ? [["vm-1", { machine: "a", since: 1_000 * MINUTE }]] : []);
  });

  it.each<[string, Partial<OrphanSnapshot>, boolean]>([
    ["before the end of the quarantine", { sightings: sightings(30), quarantine: since(14) }, false],
    ["after it", { sightings: sightings(30), quarantine: since(15) }, true],
    ["after a restart, in the first list", { quarantine: since(500) }, false],
    ["after a restart, in the second list", { sightings: sightings(1), quarantine: since(500) }, true],
    ["with far fewer machines than then", { sightings: sightings(30), quarantine: since(500, 21) }, false],
    ["with a time in the future", { sightings: sightings(30), quarantine: since(-30) }, false],
    ["in doubt", { sightings: sightings(30), quarantine: since(500), doubt: "doubt" }, false],
  ])("in quarantine %s may be deleted or not", (_, change, expected) => {
    const decision = decide(change);
    expect([decision.found, decision.due]).toEqual([[], expected ? [vm] : []]);
    expect([...decision.quarantine.vms.keys()]).toEqual(["vm-1"]);
  });

  it("restarts its quarantine when there are far fewer machines, or its time is in the future", () => {
    const fewer = decide({ quarantine: since(500, 21) }).quarantine;
    expect([fewer.machines, fewer.vms.get("vm-1")?.since]).toEqual([10, 1_000 * MINUTE]);
    expect(decide({ quarantine: since(-30) }).quarantine.vms.get("vm-1")?.since).toBe(1_000 * MINUTE);
  });

  it("is forgotten in doubt, but stays in quarantine", () => {
    const decision = decide({ doubt: "doubt", sightings: sightings(30), quarantine: since(5) });
    expect([decision.sightings.size, decision.quarantine]).toEqual([0, since(5)]);
  });

  it("that is no longer listed, or has a machine, is forgotten and leaves the quarantine", () => {
    const decision = decide({ orphans: [], sightings: sightings(30), quarantine: since(5) });
    expect([decision.sightings.size, decision.quarantine.vms.size]).toEqual([0, 0]);
  });

  it("waits for its quarantine while there are too many others", () => {
    const orphans = Array.from({ length: maxQuarantined + 5 }, (_, index) => ({ ...vm, providerId: `vm-${index}` }));
    const seen = new Map(orphans.map(({ providerId }) => [providerId, { sinceMs: 0, count: 1 }]));
    const decision = decide({ orphans, sightings: seen });
    expect([decision.found.length, decision.quarantine.vms.size]).toEqual([maxQuarantined, maxQuarantined]);
    const next = decide({ orphans, sightings: seen, quarantine: decision.quarantine });
    expect(next.found).toEqual([]);
  });
});
