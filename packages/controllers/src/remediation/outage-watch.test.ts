import type { Machine } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { aMachine, beingDeleted, type Change, inPhase, named } from "../testing/builders.ts";
import { createOutageWatch } from "./outage.ts";
import { fixed } from "../model/live.ts";

const rule = { outageThreshold: 0.3, outageMinMachines: 2, outageWindowMs: 3_600_000 };
const start = Date.parse("2026-01-01T00:00:00Z");

function setUp() {
  const clock = createVirtualClock();
  const cached = new Map<string, Machine>();
  let notify: (old: Machine | undefined, current: Machine | undefined) => void = () => undefined;
  const logged: (readonly [string, unknown])[] = [];
  let ends = 0;
  const outageOf = createOutageWatch({
    machines: {
      subscribe: (subscriber) => {
        notify = subscriber;
        return () => undefined;
      },
    },
    zoneOf: ({ metadata }) => metadata.annotations?.["zone"],
    rule: fixed(rule),
    clock,
    log: (_, message, fields) => void logged.push([message, fields]),
    onEnd: () => ends++,
  });
  const put = (name: string, ...changes: readonly Change<Machine>[]): void => {
    const machine = aMachine(named(name), ...changes);
    notify(cached.get(name), machine);
    cached.set(name, machine);
  };
  const drop = (name: string): void => {
    notify(cached.get(name), undefined);
    cached.delete(name);
  };
  const at = (name: string, now = start) => outageOf(cached.get(name) ?? aMachine(named(name)), now);
  return { put, drop, at, logged, ends: () => ends, cached, outageOf };
}

const inZone = (zone: string) => ({ metadata: { annotations: { zone } } });

it("detects an outage when threshold and minimum of the machines are Unknown, and logs it once", () => {
  const { put, at, logged, ends } = setUp();
  for (const name of ["a", "b", "c", "d", "e", "f"]) put(name, inPhase("Running"));
  put("a", inPhase("Unknown"));
  expect(at("a")).toBeUndefined();
  put("b", inPhase("Unknown"));
  put("b", inPhase("Unknown"), { spec: { providerID: "x" } });
  expect(at("a")).toEqual({ until: start + 3_600_000, zone: undefined });
  expect(at("a", start + 3_600_000)).toBeUndefined();
  expect(logged).toEqual([
    [
      "Remediation paused: many machines became Unknown, which suggests an outage",
      { zone: undefined, unknown: 2, joined: 6 },
    ],
  ]);
  put("b", inPhase("Running"));
  expect(at("a")).toBeUndefined();
  expect(logged).toHaveLength(2);
  expect(ends()).toBe(1);
});

it("counts zones apart", () => {
  const { put, at, logged } = setUp();
  for (const name of ["a", "b", "c"]) put(name, inPhase("Running"), inZone("one"));
  for (const name of ["d", "e", "f", "g", "h"]) put(name, inPhase("Running"), inZone("two"));
  put("a", inPhase("Unknown"), inZone("one"));
  put("b", inPhase("Unknown"), inZone("one"));
  expect(at("a")).toEqual({ until: start + 3_600_000, zone: "one" });
  expect(at("d")).toBeUndefined();
  expect(logged).toMatchObject([[expect.anything(), { zone: "one" }]]);
});

it("counts no machines without a node, no terminating and no deleted ones", () => {
  const { put, drop, at } = setUp();
  for (const name of ["a", "b"]) put(name, inPhase("Unknown"));
  for (const name of ["c", "d", "e", "f"]) put(name, inPhase("Pending"));
  expect(at("a")).toBeDefined();
  put("b", inPhase("Unknown"), beingDeleted());
  expect(at("a")).toBeUndefined();
  put("b", inPhase("Unknown"), { status: { currentStatus: { lastUpdateTime: null } } });
  expect(at("a")).toBeUndefined();
  put("b", inPhase("Unknown"));
  expect(at("a")).toBeDefined();
  drop("b");
  drop("a");
  expect(at("a")).toBeUndefined();
  put("a", inPhase("Running"), inZone("one"));
  drop("a");
  expect(at("a")).toBeUndefined();
});

it("decides the same as a process that starts later, whatever happened before", () => {
  const steps = fc.array(
    fc.record({
      name: fc.constantFrom("a", "b", "c", "d", "e"),
      phase: fc.constantFrom("Running", "Unknown", "Failed", "deleted" as const),
      zone: fc.constantFrom("one", "two"),
      minute: fc.integer({ min: 0, max: 59 }),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(steps, (drawn) => {
      const old = setUp();
      for (const { name, phase, zone, minute } of drawn) {
        const since = `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
        if (phase === "deleted") old.drop(name);
        else old.put(name, inPhase(phase, since), inZone(zone));
      }
      const fresh = setUp();
      for (const [name, machine] of old.cached) fresh.put(name, machine);
      for (const machine of old.cached.values()) {
        const now = start + 3_600_000;
        expect(old.outageOf(machine, now)).toEqual(fresh.outageOf(machine, now));
      }
    }),
  );
});
