import type { Machine } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { createMachineTimeline } from "./machine-times.ts";

const machine = (uid: string, phase?: string): Machine => ({
  metadata: { name: uid, uid },
  spec: {},
  status: phase === undefined ? {} : { currentStatus: { phase } },
});

it("has the times at which machines were first seen, and first Running, also of those that are gone", () => {
  let now = 0;
  const timeline = createMachineTimeline(() => now);
  const observe = (atMs: number, old: Machine | undefined, current: Machine | undefined): void => {
    now = atMs;
    timeline.observe(old, current);
  };
  observe(10, undefined, machine("a", "Running"));
  observe(20, undefined, machine("b"));
  observe(30, machine("b"), machine("b", "Pending"));
  expect(Object.fromEntries(timeline.phases())).toEqual({ Pending: 1, Running: 1 });
  observe(50, machine("b", "Pending"), machine("b", "Running"));
  observe(60, machine("b", "Running"), machine("b", "Unknown"));
  observe(70, machine("b", "Unknown"), machine("b", "Running"));
  observe(80, machine("b", "Running"), undefined);
  expect([...timeline.since(15)]).toEqual([["b", { seenMs: 20, runningMs: 50 }]]);
  expect(timeline.since(0).get("a")).toEqual({ seenMs: 10, runningMs: 10 });
  expect([timeline.size, timeline.events]).toEqual([1, 7]);
  expect(Object.fromEntries(timeline.phases())).toEqual({ Running: 1 });
});
