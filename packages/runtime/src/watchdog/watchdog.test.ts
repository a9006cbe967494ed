import { createVirtualClock } from "@millwright/core/testing";
import { afterEach, expect, it, vi } from "vitest";
import type { Log } from "@millwright/kube";
import { createMemoryReader, type ManagerVitals, startWatchdog, type Watchdog } from "./watchdog.ts";

const MINUTE = 60_000;
let watchdog: Watchdog | undefined;
afterEach(() => watchdog?.stop());

function setUp() {
  const clock = createVirtualClock();
  const startedMs = clock.monotonicMs();
  const log = vi.fn<Log>();
  const reports: (readonly string[])[] = [];
  const restarts: string[] = [];
  const state = { unsynced: ["nodes"], isLeaderKnown: false, calls: [] as string[], heap: 0.5 };
  const cache = (name: string, objects: number) => ({ name, lostForMs: 0, silentForMs: 0, objects });
  const vitals = (): ManagerVitals => ({
    unsynced: state.unsynced,
    caches: [cache("machines", 40), cache("pods", 9_000)],
    operations: state.calls.map((what) => ({
      kind: "driver call",
      what,
      ms: clock.monotonicMs() - startedMs,
      deadlineMs: 5 * MINUTE,
    })),
  });
  watchdog = startWatchdog({
    vitals,
    isLeaderKnown: () => state.isLeaderKnown,
    limits: { stuckMs: 30 * MINUTE, memoryShare: 0.9 },
    report: ({ problems }) => reports.push(problems),
    onRestart: (because) => restarts.push(because),
    memory: () => ({ heap: state.heap }),
    clock,
    log,
  });
  return { clock, log, reports, restarts, state, watchdog };
}

it("is not ready before caches have synced and the leader is known", async () => {
  const { clock, reports, state } = setUp();
  expect(reports.at(-1)).toEqual(["waiting for the first list of nodes", "waiting to know the leader"]);
  state.unsynced = [];
  await clock.advance(1_000);
  expect(reports.at(-1)).toEqual(["waiting to know the leader"]);
  state.isLeaderKnown = true;
  await clock.advance(1_000);
  expect(reports.at(-1)).toEqual([]);
});

it("logs a stuck call once, shows it, and has the process restarted once", async () => {
  const { clock, log, reports, restarts, state, watchdog: dog } = setUp();
  state.unsynced = [];
  state.isLeaderKnown = true;
  state.calls = ["createMachine of fleet-1"];
  await clock.advance(7 * MINUTE);
  expect(reports.at(-1)).toEqual([expect.stringContaining("createMachine of fleet-1 has not ended after")]);
  const warnings = log.mock.calls.filter(([, message]) => message === "The process does not work well");
  expect(warnings).toHaveLength(1);
  expect(warnings[0]?.[2]?.["running"]).toEqual(["driver call createMachine of fleet-1, 360.0 s"]);
  const metrics = await dog.metrics();
  expect(metrics).toContain('millwright_watchdog_problems{kind="operation"} 1');
  expect(metrics).toContain('millwright_longest_operation_seconds{kind="driver call"} 420');
  expect(metrics).toContain('millwright_memory_used_share{of="heap"} 0.5');
  expect(restarts).toEqual([]);
  await clock.advance(40 * MINUTE);
  expect(restarts).toEqual([expect.stringContaining("createMachine of fleet-1 has not ended after 1800 s")]);
});

it("is not ready when memory runs out, logs what its caches hold, and has the process restarted when that lasts", async () => {
  const { clock, log, reports, restarts, state } = setUp();
  state.unsynced = [];
  state.isLeaderKnown = true;
  state.heap = 0.93;
  await clock.advance(1_000);
  const because = "93% of the memory of the heap is in use; the limit is 90%";
  const objects = ["pods 9000", "machines 40"];
  expect(reports.at(-1)).toEqual([because]);
  expect(log).toHaveBeenLastCalledWith("warn", "The process does not work well", { because, running: [], objects });
  expect(restarts).toEqual([]);
  await clock.advance(31_000);
  expect(log).toHaveBeenLastCalledWith("error", "The process is restarted", { because, running: [], objects });
  expect(restarts).toEqual([because]);
});

it("logs that a problem has ended", async () => {
  const { clock, log, state } = setUp();
  state.calls = ["deleteMachine of fleet-1"];
  await clock.advance(7 * MINUTE);
  state.calls = [];
  await clock.advance(1_000);
  expect(log).toHaveBeenLastCalledWith("info", "The process works well again", {
    subject: "driver call deleteMachine of fleet-1",
  });
});

it("counts a look that comes too late as a stall, and logs what runs", async () => {
  const clock = createVirtualClock();
  const log = vi.fn<Log>();
  let skippedMs = 0;
  const jumping = { ...clock, monotonicMs: () => clock.monotonicMs() + skippedMs };
  watchdog = startWatchdog({
    vitals: () => ({
      unsynced: [],
      caches: [],
      operations: [{ kind: "reconcile", what: "default/a of machine", ms: 2_500, deadlineMs: 120_000 }],
    }),
    isLeaderKnown: () => true,
    limits: { stuckMs: 0, memoryShare: 0 },
    report: () => undefined,
    onRestart: () => undefined,
    clock: jumping,
    log,
  });
  await clock.advance(2_000);
  expect(log).not.toHaveBeenCalled();
  skippedMs = 4_000;
  await clock.advance(1_000);
  expect(log.mock.calls).toEqual([
    ["warn", "The event loop was blocked", { durationMs: 4_000, running: ["reconcile default/a of machine, 2.5 s"] }],
  ]);
  expect(await watchdog.metrics()).toContain('millwright_event_loop_stall_seconds_bucket{le="5"} 1');
});

it("measures the heap of the process, and its container, whose limit it reads once a minute", async () => {
  const limit = vi.spyOn(process, "constrainedMemory").mockReturnValue(2 ** 40);
  const clock = createVirtualClock();
  const memory = createMemoryReader(clock);
  for (const _ of Array.from({ length: 3 })) {
    const { heap = 0, container = 0 } = memory();
    expect(heap).toBeGreaterThan(0);
    expect(heap).toBeLessThan(1);
    expect(container).toBeGreaterThan(0);
    expect(container).toBeLessThan(0.1);
  }
  expect(limit).toHaveBeenCalledTimes(1);
  await clock.advance(MINUTE);
  limit.mockReturnValue(0);
  expect(memory()).not.toHaveProperty("container");
  limit.mockRestore();
});
