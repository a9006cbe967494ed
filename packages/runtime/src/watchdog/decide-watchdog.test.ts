import { describe, expect, it } from "vitest";
import { decideWatchdog, type RunningOperation, type Vitals, type WatchdogLimits } from "./decide-watchdog.ts";

const MINUTE = 60_000;
const limits: WatchdogLimits = { stuckMs: 30 * MINUTE, memoryShare: 0.95 };
const healthy: Vitals = { operations: [], caches: [], memory: { heap: 0.3 } };
const call = (ms: number): RunningOperation => ({
  kind: "driver call",
  what: "createMachine",
  ms,
  deadlineMs: 5 * MINUTE,
});
const decide = (vitals: Partial<Vitals>, changed: Partial<WatchdogLimits> = {}) => {
  const { state, problems } = decideWatchdog({ ...healthy, ...vitals }, undefined, { ...limits, ...changed }, 0);
  return [state, ...problems.map(({ message }) => message)];
};

describe("an operation", () => {
  it("degrades the process a minute after its deadline, and ends it when it lasts", () => {
    expect(decide({ operations: [call(6 * MINUTE - 1)] })).toEqual(["healthy"]);
    expect(decide({ operations: [call(6 * MINUTE)] })).toEqual([
      "degraded",
      "The driver call createMachine has not ended after 360 s; its deadline is 300 s",
    ]);
    expect(decide({ operations: [call(30 * MINUTE - 1)] })[0]).toBe("degraded");
    expect(decide({ operations: [call(30 * MINUTE)] })[0]).toBe("restart");
  });

  it("degrades the process at half of a short limit, and never ends it without one", () => {
    expect(decide({ operations: [call(500)] }, { stuckMs: 1_000 })[0]).toBe("degraded");
    expect(decide({ operations: [call(1_000)] }, { stuckMs: 1_000 })[0]).toBe("restart");
    expect(decide({ operations: [call(6 * MINUTE - 1)] }, { stuckMs: 0 })[0]).toBe("healthy");
    expect(decide({ operations: [call(9_999 * MINUTE)] }, { stuckMs: 0 })[0]).toBe("degraded");
  });
});

describe("a cache", () => {
  const cache = (lostForMs: number, silentForMs: number) => ({
    caches: [{ name: "nodes", lostForMs, silentForMs, objects: 1 }],
  });

  it("that does nothing degrades the process, and ends it when it lasts", () => {
    expect(decide(cache(0, 3 * MINUTE - 1))).toEqual(["healthy"]);
    expect(decide(cache(0, 3 * MINUTE))).toEqual([
      "degraded",
      "The cache of nodes has had no event and no response for 180 s",
    ]);
    expect(decide(cache(30 * MINUTE, 30 * MINUTE))[0]).toBe("restart");
    expect(decide(cache(0, 99 * MINUTE), { stuckMs: 0 })[0]).toBe("degraded");
    expect(decide(cache(0, 3 * MINUTE - 1), { stuckMs: MINUTE })).toEqual(["healthy"]);
  });

  it("whose requests fail degrades the process and does not end it: the next process has the same API server", () => {
    expect(decide(cache(3 * MINUTE - 1, 10))).toEqual(["healthy"]);
    expect(decide(cache(99 * MINUTE, 10))).toEqual([
      "degraded",
      "The cache of nodes has not been up to date for 5940 s",
    ]);
  });
});

describe("memory", () => {
  const full: Vitals = { ...healthy, memory: { heap: 0.3, container: 0.957 } };

  it("above its limit degrades the process at once, and ends it after half a minute", () => {
    const first = decideWatchdog(full, undefined, limits, 1_000);
    expect([first.state, first.problems.map(({ message }) => message)]).toEqual([
      "degraded",
      ["95% of the memory of the container is in use; the limit is 95%"],
    ]);
    expect(decideWatchdog(full, first, limits, 30_999).state).toBe("degraded");
    expect(decideWatchdog(full, first, limits, 31_000).state).toBe("restart");
  });

  it("that is freed in between begins again", () => {
    const first = decideWatchdog(full, undefined, limits, 1_000);
    const second = decideWatchdog(healthy, first, limits, 20_000);
    const third = decideWatchdog(full, second, limits, 25_000);
    expect([second.state, third.state, decideWatchdog(full, third, limits, 40_000).state]).toEqual([
      "healthy",
      "degraded",
      "degraded",
    ]);
  });

  it("has no limit when it is 0", () => {
    expect(decide({ memory: { heap: 1 } }, { memoryShare: 0 })).toEqual(["healthy"]);
  });
});
