import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, aNode, annotated, type Change } from "../testing/builders.ts";
import { later, testNow } from "../testing/snapshots.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { drainRecordPatch } from "./drain-record.ts";
import { drainWindow } from "./drain-window.ts";
import { createObservedDrains } from "./observed-drains.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const startedAt = testNow.getTime();
const settings = defaultMachineSettings;

/** Minutes from the start of a drain to its deadlines. */
function minutesOf(
  now: number,
  change: Change<Machine> = {},
  observedAfter?: number,
): { readonly evicting: number; readonly ending: number } {
  const observedSince = observedAfter === undefined ? undefined : startedAt + observedAfter;
  const { evictUntil, deadline } = drainWindow(
    { machine: aMachine(change), settings, node: undefined, startedAt, observedSince },
    later(now),
  );
  return { evicting: (evictUntil - startedAt) / MINUTE, ending: (deadline - startedAt) / MINUTE };
}

const recorded = (countedMs: number, until: number, start = startedAt): Change<Machine> => ({
  metadata: {
    annotations: {
      "machine.millwright.dev/drain-state": JSON.stringify({
        moves: [],
        clock: {
          startedAt: new Date(start).toISOString(),
          countedUntil: later(until).toISOString(),
          countedMs,
        },
      }),
    },
  },
});

describe("the window of a drain", () => {
  it.each<[string, Change<Machine>, number, number]>([
    ["of the settings", {}, 120, 120],
    ["of the machine", { spec: { drainTimeout: "10m" } }, 10, 10],
    ["of attempts of 20 s each", { spec: { maxEvictRetries: 30 } }, 10, 120],
    ["of no attempt", { spec: { maxEvictRetries: 0 } }, 0, 120],
    ["of no time", { spec: { drainTimeout: "0s" } }, 0, 0],
  ])("%s does not move while the drain is followed", (_, change, evicting, ending) => {
    for (const now of [0, MINUTE, 30 * MINUTE, 3 * HOUR])
      expect(minutesOf(now, change, 0)).toEqual({ evicting, ending });
  });

  it("ends when the cloud reclaims the VM, however long it was paused, with 15 s for pods that no budget releases", () => {
    const machine = aMachine(
      annotated({ "machine.millwright.dev/interruption-deadline": later(2 * MINUTE).toISOString() }),
    );
    const node = aNode({ spec: { taints: [{ key: "aws-node-termination-handler/spot-itn", effect: "NoSchedule" }] } });
    for (const observedSince of [startedAt, startedAt + 30 * MINUTE]) {
      const drain = { machine, settings, startedAt, observedSince };
      const { evictUntil, deadline } = drainWindow({ ...drain, node }, later(MINUTE));
      expect([evictUntil - startedAt, deadline - startedAt]).toEqual([105_000, 120_000]);
      expect(drainWindow({ ...drain, node: undefined }, later(MINUTE)).deadline - startedAt).toBeGreaterThan(HOUR);
    }
  });

  it("does not move in a short break", () => {
    expect(minutesOf(9 * MINUTE)).toEqual({ evicting: 120, ending: 120 });
    expect(minutesOf(40 * MINUTE, recorded(30 * MINUTE, 30 * MINUTE), 39 * MINUTE).ending).toBe(120);
  });

  it("is extended by a long pause, of which ten minutes count", () => {
    // Thirty minutes count, then no process ran for three hours.
    expect(minutesOf(3.5 * HOUR, recorded(30 * MINUTE, 30 * MINUTE), 3.5 * HOUR).ending).toBe(120 + 170);
    expect(minutesOf(4 * HOUR, recorded(30 * MINUTE, 30 * MINUTE), 3.5 * HOUR).ending).toBe(120 + 170);
    // The deletion was requested while no process ran.
    expect(minutesOf(3 * HOUR, {}, 3 * HOUR).ending).toBe(120 + 170);
  });

  it("leaves a minute for evictions after a pause, or the drain timeout where that is shorter", () => {
    const used = recorded(2 * HOUR, 2 * HOUR);
    expect(minutesOf(2 * HOUR + MINUTE, used, 2 * HOUR + MINUTE)).toEqual({ evicting: 122, ending: 122 });
    const short = [used, { spec: { drainTimeout: "15s" } }] as const;
    const machine = aMachine(...short);
    const at = startedAt + 3 * HOUR;
    const window = drainWindow({ machine, settings, node: undefined, startedAt, observedSince: at }, new Date(at));
    expect(window.deadline - at).toBe(15_000);
  });

  it("ignores the record of another drain", () => {
    expect(minutesOf(9 * MINUTE, recorded(HOUR, HOUR, startedAt - HOUR)).ending).toBe(120);
  });

  it("does not move back with the clock", () => {
    expect(minutesOf(-MINUTE, recorded(5 * MINUTE, 5 * MINUTE), -MINUTE).ending).toBe(120);
  });

  it("requires a record every five minutes, and more often when it is short", () => {
    const at = (change: Change<Machine>) =>
      drainWindow(
        { machine: aMachine(change), settings, node: undefined, startedAt, observedSince: startedAt },
        later(0),
      ).recordAt - startedAt;
    expect(at({})).toBe(5 * MINUTE);
    expect(at({ spec: { drainTimeout: "8m" } })).toBe(MINUTE);
    expect(at({ spec: { drainTimeout: "8s" } })).toBe(30_000);
    expect(at(recorded(5 * MINUTE, 5 * MINUTE))).toBe(10 * MINUTE);
  });
});

/** A time in which a drain is carried out, in steps of 10 s, and the pause after it. */
interface Period {
  readonly active: number;
  readonly paused: number;
  readonly isRestart: boolean;
}

const timeouts = { "5m": 5 * MINUTE, "40m": 40 * MINUTE, "2h": 2 * HOUR };

/** What was wrong with the deadlines of a drain with these periods. */
function problemsOf(periods: readonly Period[], drainTimeout: keyof typeof timeouts): readonly string[] {
  const stepMs = 10_000;
  const timeoutMs = timeouts[drainTimeout];
  const intervalMs = Math.min(5 * MINUTE, timeoutMs / 8);
  const problems: string[] = [];
  let machine: Machine = aMachine({ spec: { drainTimeout } });
  let nowMs = startedAt;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  let activeMs = 0;
  let pauses = 0;
  let observed = createObservedDrains(clock);
  for (const { active, paused, isRestart } of periods) {
    const resumedAt = nowMs;
    for (let index = 0; index < active; index++) {
      const now = new Date(nowMs);
      const window = drainWindow(
        { machine, settings, node: undefined, startedAt, observedSince: observed.since("x/a") ?? nowMs },
        now,
      );
      observed.note("x/a", true);
      if (nowMs > window.deadline) {
        if (activeMs < timeoutMs - pauses * 2 * intervalMs) problems.push("forced too early");
        if (nowMs - resumedAt < MINUTE) problems.push("forced right after a pause");
        return problems;
      }
      if (pauses === 0 && window.deadline !== startedAt + timeoutMs) problems.push("moved without a pause");
      if (nowMs >= window.recordAt) machine = aMachine(machine, drainRecordPatch({ moves: [], clock: window.clock }));
      nowMs += stepMs;
      activeMs += stepMs;
    }
    if (paused > 0 || isRestart) pauses++;
    nowMs += paused * stepMs;
    if (isRestart) observed = createObservedDrains(clock);
    else if (paused > 0) observed.note("x/a", false);
  }
  return problems;
}

it("every drain has its whole time in service before it is forced, whatever the pauses, and a minute after each", () => {
  const period: fc.Arbitrary<Period> = fc.record({
    active: fc.integer({ min: 1, max: 300 }),
    paused: fc.integer({ min: 0, max: 2_000 }),
    isRestart: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(period, { minLength: 1, maxLength: 8 }),
      fc.constantFrom("5m" as const, "40m" as const, "2h" as const),
      (periods, drainTimeout) => {
        expect(problemsOf(periods, drainTimeout)).toEqual([]);
      },
    ),
  );
});
