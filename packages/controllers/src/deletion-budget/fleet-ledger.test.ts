import { type Machine, phaseOf } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineSet, beingDeleted, type Change, inPhase, named, ownedBy } from "../testing/builders.ts";
import { FleetLedger, isInService, type SetLedger } from "./fleet-ledger.ts";

const hour = 3_600_000;
const set = aMachineSet();
const other = aMachineSet(named("other"));
const vm = { spec: { providerID: "mock:///1" } };

/** A ledger, and the changes of a cache. */
function setUp() {
  const clock = createVirtualClock();
  const current = new Map<string, Machine>();
  let apply: (old: Machine | undefined, now: Machine | undefined) => void = () => undefined;
  const ledger = new FleetLedger({ subscribe: (subscriber) => ((apply = subscriber), () => undefined) }, clock);
  return {
    clock,
    ledger,
    put(name: string, ...changes: readonly Change<Machine>[]): Machine {
      const machine = aMachine(named(name), vm, ownedBy(set), ...changes);
      const old = current.get(name);
      current.set(name, machine);
      apply(old, machine);
      return machine;
    },
    remove(name: string): void {
      const old = current.get(name);
      current.delete(name);
      apply(old, undefined);
    },
    of(uid: string | undefined): Omit<SetLedger, "setName" | "setUid"> | undefined {
      const found = [...ledger.sets()].find(({ setUid }) => setUid === uid);
      if (found === undefined) return undefined;
      const { inService, terminating, netLoss } = found;
      return { inService, terminating, netLoss };
    },
  };
}

describe("the ledger of machines in service", () => {
  it.each([
    ["Running", true],
    ["Unknown", true],
    ["Available", true],
    ["InPlaceUpdating", true],
    ["InPlaceUpdateFailed", true],
    ["Pending", false],
    ["Failed", false],
    ["CrashLoopBackOff", false],
    ["Terminating", false],
    ["", true],
  ] as const)("counts a machine in phase %s: %s", (phase, expected) => {
    expect(isInService(aMachine(vm, inPhase(phase)))).toBe(expected);
    expect(isInService(aMachine(inPhase(phase)))).toBe(false);
  });

  it("counts a machine with a VM that has no phase, unless its VM was just created", () => {
    const { put, of } = setUp();
    put("restored", { metadata: { finalizers: null } });
    put("restored");
    put("created", { spec: { providerID: null } });
    put("created");
    put("recorded", { status: { lastOperation: { type: "Create", description: "Creating machine" } } });
    expect(of(set.metadata.uid)).toEqual({ inService: 1, terminating: 0, netLoss: 0 });
    put("created", inPhase("Pending"));
    expect(of(set.metadata.uid)).toEqual({ inService: 1, terminating: 0, netLoss: 0 });
    put("created", inPhase("Running"));
    expect(of(set.metadata.uid)).toEqual({ inService: 2, terminating: 0, netLoss: -1 });
  });

  it("counts a machine that comes into service as an arrival, once, and none that served before", () => {
    const { put, of } = setUp();
    put("old", inPhase("Running"));
    put("new", inPhase("Pending"));
    expect(of(set.metadata.uid)).toEqual({ inService: 1, terminating: 0, netLoss: 0 });
    put("new", inPhase("Running"));
    expect(of(set.metadata.uid)).toEqual({ inService: 2, terminating: 0, netLoss: -1 });
    put("new", inPhase("Failed"));
    put("new", inPhase("Running"));
    put("old", inPhase("Unknown"));
    expect(of(set.metadata.uid)).toEqual({ inService: 2, terminating: 0, netLoss: -1 });
  });

  it("counts a deletion as a loss for an hour, also when machine and set are deleted, and an approved one never", async () => {
    const { clock, ledger, put, remove, of } = setUp();
    for (const name of ["a", "b"]) put(name, inPhase("Running"));
    ledger.enter("uid-a", true);
    ledger.enter("uid-a", true);
    ledger.enter("uid-b", false);
    expect(of(set.metadata.uid)).toEqual({ inService: 0, terminating: 0, netLoss: 1 });
    put("a", inPhase("Running"), beingDeleted());
    for (const name of ["a", "b"]) remove(name);
    expect(of(set.metadata.uid)).toEqual({ inService: 0, terminating: 0, netLoss: 1 });
    await clock.advance(hour);
    expect([...ledger.sets()]).toEqual([]);
  });

  it("takes a deletion back that the API server rejected", () => {
    const { ledger, put, of } = setUp();
    const machine = put("a", inPhase("Running"));
    ledger.enter("uid-a", true);
    expect(ledger.counted.has(machine.metadata.uid ?? "")).toBe(false);
    ledger.revoke("uid-a");
    ledger.revoke("uid-a");
    expect(ledger.counted.has(machine.metadata.uid ?? "")).toBe(true);
    expect(of(set.metadata.uid)).toEqual({ inService: 1, terminating: 0, netLoss: 0 });
  });

  it("knows the deletions that another client requested, and those that another process began", () => {
    const { ledger, put, of } = setUp();
    put("requested", inPhase("Running"));
    put("requested", inPhase("Running"), beingDeleted());
    const description = "Drain successful. Initiate VM deletion";
    put("begun", inPhase("Terminating"), beingDeleted(), {
      status: { lastOperation: { type: "Delete", description } },
    });
    expect(of(set.metadata.uid)).toEqual({ inService: 1, terminating: 1, netLoss: 1 });
    expect(ledger.isEntered("uid-begun")).toBe(true);
  });

  it("follows a machine to another set, and to none", () => {
    const { put, of } = setUp();
    put("a", inPhase("Running"), beingDeleted());
    put("a", inPhase("Running"), beingDeleted(), ownedBy(other));
    expect(of(set.metadata.uid)).toBeUndefined();
    expect(of(other.metadata.uid)).toEqual({ inService: 1, terminating: 1, netLoss: 0 });
    put("a", inPhase("Running"), beingDeleted(), { metadata: { ownerReferences: null } });
    expect(of("")).toEqual({ inService: 1, terminating: 1, netLoss: 0 });
  });

  const step = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    what: fc.constantFrom("Running", "Pending", "Failed", "terminate", "enter", "revoke", "remove", "wait"),
    owner: fc.constantFrom(set, other),
  });

  it("counts as a list of all machines would, after any events", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, ledger, put, remove, of } = setUp();
        const machines = new Map<string, Machine>();
        const entered = new Set<string>();
        for (const { name, what, owner } of steps) {
          const before = machines.get(name);
          if (what === "wait") await clock.advance(hour / 3);
          else if (what === "remove") {
            remove(name);
            machines.delete(name);
            entered.delete(name);
          } else if (what === "enter" || what === "revoke") {
            ledger[what](`uid-${name}`, true);
            if (what === "revoke") entered.delete(name);
            else if (before !== undefined) entered.add(name);
          } else if (what === "terminate") {
            const phase = before === undefined ? "" : phaseOf(before);
            if (before !== undefined && phase !== undefined)
              machines.set(name, put(name, inPhase(phase), ownedBy(owner), beingDeleted()));
          } else {
            const deletion = before?.metadata.deletionTimestamp === undefined ? [] : [beingDeleted()];
            machines.set(name, put(name, inPhase(what), ownedBy(owner), ...deletion));
          }
        }
        for (const each of [set, other]) {
          const own = [...machines.values()].filter(
            (machine) =>
              machine.metadata.ownerReferences?.[0]?.uid === each.metadata.uid &&
              isInService(machine) &&
              !entered.has(machine.metadata.name),
          );
          const terminating = own.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
          const { inService = 0, terminating: counted = 0 } = of(each.metadata.uid) ?? {};
          expect([inService, counted]).toEqual([own.length, terminating.length]);
        }
        await clock.advance(hour);
        for (const { netLoss } of ledger.sets()) expect(netLoss).toBe(0);
      }),
    );
  });
});
