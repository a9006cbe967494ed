import type { Machine, MachinePhase } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { aMachine, inPhase } from "../testing/builders.ts";
import { createNodeHistories } from "./node-histories.ts";

const HOUR = 3_600_000;

function setUp() {
  const clock = createVirtualClock();
  let tell: (old: Machine | undefined, current: Machine | undefined) => void = () => undefined;
  const histories = createNodeHistories(
    {
      subscribe: (subscriber) => {
        tell = subscriber;
        return () => undefined;
      },
    },
    clock,
    HOUR,
  );
  let machine = aMachine(inPhase("Running"));
  const become = (phase: MachinePhase): void => {
    const old = machine;
    machine = aMachine(inPhase(phase));
    tell(old, machine);
  };
  const now = () => clock.now().getTime();
  return {
    clock,
    become,
    now,
    note: (isHealthy: boolean, unhealthySince?: number) => histories.note(machine, isHealthy, unhealthySince),
    end: () => tell(machine, undefined),
    tell,
  };
}

it("counts how often a machine went from Running to Unknown within the window", async () => {
  const { clock, become, note } = setUp();
  for (let turn = 0; turn < 3; turn++) {
    become("Unknown");
    await clock.advance(20 * 60_000);
    become("Running");
  }
  become("Unknown");
  expect(note(false).flaps).toBe(3);
  await clock.advance(HOUR);
  expect(note(false).flaps).toBe(0);
});

it("counts no other change of phase, and none that it did not see", () => {
  const { become, note, tell } = setUp();
  become("Failed");
  become("Unknown");
  become("Unknown");
  tell(undefined, aMachine(inPhase("Unknown")));
  expect(note(false).flaps).toBe(0);
});

it("remembers no more flaps than matter", () => {
  const { become, note } = setUp();
  for (let turn = 0; turn < 100; turn++) {
    become("Unknown");
    become("Running");
  }
  become("Unknown");
  expect(note(true).flaps).toBe(16);
});

it("knows since when a node holds still, and until when it was healthy", async () => {
  const { clock, become, note, now } = setUp();
  become("Unknown");
  const start = now();
  expect(note(false)).toEqual({ flaps: 1, steadySince: start, healthyUntil: undefined });
  await clock.advance(1_000);
  expect(note(false).steadySince).toBe(start);
  expect(note(true)).toEqual({ flaps: 1, steadySince: start + 1_000, healthyUntil: undefined });
  await clock.advance(1_000);
  expect(note(false)).toEqual({ flaps: 1, steadySince: start + 2_000, healthyUntil: start + 2_000 });
});

it("takes the node's own word for when it was healthy last, where nothing is remembered", async () => {
  const { clock, become, note, now } = setUp();
  become("Unknown");
  await clock.advance(60_000);
  const told = now() - 20_000;
  expect(note(false, told).healthyUntil).toBe(told);
  // What was seen since then counts for more.
  expect(note(false, now()).healthyUntil).toBe(told);
  note(true);
  expect(note(false, told).healthyUntil).toBe(now());
});

it("does not believe a node that claims to turn bad in the future", () => {
  const { become, note, now } = setUp();
  become("Unknown");
  expect(note(false, now() + 60_000).healthyUntil).toBe(now());
});

it("starts anew with the next time that the machine is Running, and forgets it when it is gone", async () => {
  const { clock, become, note, now, end } = setUp();
  become("Unknown");
  note(true);
  await clock.advance(1_000);
  become("Running");
  become("Unknown");
  expect(note(false)).toEqual({ flaps: 2, steadySince: now(), healthyUntil: undefined });
  end();
  expect(note(false).flaps).toBe(0);
  // Nothing is left to be forgotten.
  become("Running");
  expect(note(false).flaps).toBe(0);
});
