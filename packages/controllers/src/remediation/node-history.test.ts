import type { Machine, MachinePhase } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { aMachine, inPhase } from "../testing/builders.ts";
import { createNodeHistories } from "./node-history.ts";

const HOUR = 3_600_000;

function setUp() {
  const clock = createVirtualClock();
  let notify: (old: Machine | undefined, current: Machine | undefined) => void = () => undefined;
  const histories = createNodeHistories(
    {
      subscribe: (subscriber) => {
        notify = subscriber;
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
    notify(old, machine);
  };
  const now = () => clock.now().getTime();
  return {
    clock,
    become,
    now,
    record: (isHealthy: boolean) => histories.record(machine, isHealthy),
    end: () => notify(machine, undefined),
    notify,
  };
}

it("counts how often a machine went from Running to Unknown within the window", async () => {
  const { clock, become, record } = setUp();
  for (let turn = 0; turn < 3; turn++) {
    become("Unknown");
    await clock.advance(20 * 60_000);
    become("Running");
  }
  become("Unknown");
  expect(record(false).flaps).toBe(3);
  await clock.advance(HOUR);
  expect(record(false).flaps).toBe(0);
});

it("counts no other change of phase, and none that it did not observe", () => {
  const { become, record, notify } = setUp();
  become("Failed");
  become("Unknown");
  become("Unknown");
  notify(undefined, aMachine(inPhase("Unknown")));
  expect(record(false).flaps).toBe(0);
});

it("keeps no more flaps than have an effect", () => {
  const { become, record } = setUp();
  for (let turn = 0; turn < 100; turn++) {
    become("Unknown");
    become("Running");
  }
  become("Unknown");
  expect(record(true).flaps).toBe(16);
});

it("returns since when a node is stable, and until when it was healthy", async () => {
  const { clock, become, record, now } = setUp();
  become("Unknown");
  const start = now();
  expect(record(false)).toEqual({ flaps: 1, steadySince: start, healthyUntil: undefined });
  await clock.advance(1_000);
  expect(record(false).steadySince).toBe(start);
  expect(record(true)).toEqual({ flaps: 1, steadySince: start + 1_000, healthyUntil: undefined });
  await clock.advance(1_000);
  expect(record(false)).toEqual({ flaps: 1, steadySince: start + 2_000, healthyUntil: start + 2_000 });
});

it("restarts when the machine is Running again, and forgets it when it is deleted", async () => {
  const { clock, become, record, now, end } = setUp();
  become("Unknown");
  record(true);
  await clock.advance(1_000);
  become("Running");
  become("Unknown");
  expect(record(false)).toEqual({ flaps: 2, steadySince: now(), healthyUntil: undefined });
  end();
  expect(record(false).flaps).toBe(0);
  // There is no entry left.
  become("Running");
  expect(record(false).flaps).toBe(0);
});
