import type { Machine, MachinePhase } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachine, inPhase, named } from "../testing/builders.ts";
import { createObservedTimes } from "./observed-times.ts";

const hour = 3_600_000;

function setUp() {
  const state = { wallMs: Date.parse("2026-01-01T00:00:00Z"), monotonicMs: 0 };
  let notify: (old: Machine | undefined, current: Machine | undefined) => void = () => undefined;
  const times = createObservedTimes(
    {
      subscribe: (subscriber) => {
        notify = subscriber;
        return () => undefined;
      },
    },
    { now: () => new Date(state.wallMs), monotonicMs: () => state.monotonicMs },
  );
  const pass = (ms: number): void => {
    state.wallMs += ms;
    state.monotonicMs += ms;
  };
  /** For how long the machine and its phase were observed. */
  const observedMs = () => {
    const since = times.of("uid-machine");
    return since === undefined ? undefined : [state.wallMs - since.machine, state.wallMs - since.phase];
  };
  return { state, pass, notify: (...change: Parameters<typeof notify>) => notify(...change), observedMs, times };
}

const machineIn = (phase: MachinePhase, time?: string): Machine => aMachine(inPhase(phase, time));

it("knows since when a machine and its phase are observed, whatever the times in the object", () => {
  const { pass, notify, observedMs } = setUp();
  const pending = machineIn("Pending", "2020-01-01T00:00:00Z");
  expect(observedMs()).toBeUndefined();
  notify(undefined, pending);
  expect(observedMs()).toEqual([0, 0]);
  pass(1_000);
  notify(pending, { ...pending, spec: { ...pending.spec, providerID: "vm-1" } });
  expect(observedMs()).toEqual([1_000, 1_000]);
  const unknown = machineIn("Unknown", "2030-01-01T00:00:00Z");
  notify(pending, unknown);
  pass(1_000);
  expect(observedMs()).toEqual([2_000, 1_000]);
  notify(unknown, machineIn("Unknown", "2030-01-01T00:00:01Z"));
  expect(observedMs()).toEqual([2_000, 0]);
});

it.each([hour, -hour])("is not affected by a jump of the clock by %i ms", (jumpMs) => {
  const { state, pass, notify, observedMs } = setUp();
  notify(undefined, machineIn("Unknown"));
  pass(5_000);
  state.wallMs += jumpMs;
  expect(observedMs()).toEqual([5_000, 5_000]);
});

it("forgets a machine that is deleted, or replaced by another one of the same name", () => {
  const { notify, times } = setUp();
  const machine = machineIn("Pending");
  notify(undefined, machine);
  notify(machine, undefined);
  expect(times.of("uid-machine")).toBeUndefined();
  notify(undefined, machine);
  const other = aMachine(named("other"), inPhase("Pending"));
  notify(machine, other);
  expect(times.of("uid-machine")).toBeUndefined();
  expect(times.of(other.metadata.uid ?? "")).toBeDefined();
});
