import { describe, expect, it } from "vitest";
import { createServerTime, serverClock } from "./server-time.ts";

const hour = 3_600_000;
const start = Date.parse("2026-01-01T00:00:00Z");

/** A local clock, a server's clock, and responses of that server. */
function aServer({ aheadMs = 0 }: { readonly aheadMs?: number } = {}) {
  const state = { monotonicMs: 5_000, wallMs: start, serverMs: start - aheadMs };
  const time = createServerTime({ now: () => new Date(state.wallMs), monotonicMs: () => state.monotonicMs });
  const pass = (ms: number): void => {
    state.monotonicMs += ms;
    state.wallMs += ms;
    state.serverMs += ms;
  };
  return {
    state,
    time,
    pass,
    /** A response whose way there and back take so long. */
    answer({ thereMs = 20, backMs = 20, shiftMs = 0, age }: Answer = {}) {
      const sentMs = state.monotonicMs;
      pass(thereMs);
      const date = new Date(state.serverMs + shiftMs).toUTCString();
      pass(backMs);
      time.answered({ sentMs, receivedMs: state.monotonicMs, date, age });
    },
    errorMs: () => time.now().getTime() - state.serverMs,
  };
}

interface Answer {
  readonly thereMs?: number;
  readonly backMs?: number;
  readonly shiftMs?: number;
  readonly age?: string;
}

describe("the time of a server", () => {
  it("is the local time before the first response, and when responses have no time", () => {
    const { time, state } = aServer({ aheadMs: hour });
    expect([time.now(), time.aheadMs()]).toEqual([new Date(state.wallMs), undefined]);
    for (const date of [undefined, "", "yesterday"]) time.answered({ sentMs: 5_000, receivedMs: 5_010, date });
    expect(time.aheadMs()).toBeUndefined();
  });

  it.each([hour, -hour, 90 * hour])(
    "is known to a second after one response when the local clock is %i ms ahead",
    (aheadMs) => {
      const server = aServer({ aheadMs });
      server.pass(400);
      server.answer();
      expect(Math.abs(server.errorMs())).toBeLessThan(1_100);
      expect(Math.abs((server.time.aheadMs() ?? 0) - aheadMs)).toBeLessThan(1_100);
    },
  );

  it("is exactly the local time while both clocks may agree", () => {
    const server = aServer({ aheadMs: 30 });
    for (let count = 0; count < 100; count++) {
      server.pass(777);
      server.answer({ thereMs: 60, backMs: 300 });
      expect([server.time.aheadMs(), server.time.now().getTime()]).toEqual([0, server.state.wallMs]);
    }
  });

  it("gets closer with each response, because they round differently", () => {
    const server = aServer({ aheadMs: hour });
    for (let count = 0; count < 50; count++) {
      server.answer({ thereMs: 2, backMs: 3 });
      server.pass(137);
    }
    expect(Math.abs(server.errorMs())).toBeLessThan(100);
  });

  it("is not affected by a slow response, nor by a cached one", () => {
    const server = aServer({ aheadMs: hour });
    server.answer();
    server.answer({ thereMs: 0, backMs: 25_000 });
    server.answer({ thereMs: 25_000, backMs: 0 });
    for (let count = 0; count < 5; count++) server.answer({ shiftMs: -600_000, age: "600" });
    expect(Math.abs(server.errorMs())).toBeLessThan(1_100);
  });

  it("is not affected by a jump of the local clock", () => {
    const server = aServer();
    server.answer();
    for (const jumpMs of [hour, -2 * hour]) {
      server.state.wallMs += jumpMs;
      expect(Math.abs(server.errorMs())).toBeLessThan(1_100);
    }
    expect(Math.abs((server.time.aheadMs() ?? 0) + hour)).toBeLessThan(1_100);
  });

  it("follows a jump of the server's clock after a few responses", () => {
    const server = aServer();
    server.answer();
    server.state.serverMs += hour;
    for (let count = 0; count < 3; count++) server.answer();
    expect(Math.abs(server.errorMs())).toBeLessThan(1_100);
  });

  it("stays with the first of two servers behind one address whose clocks differ", () => {
    const server = aServer();
    for (let count = 0; count < 20; count++) server.answer({ shiftMs: count % 2 === 0 ? 0 : hour });
    expect(server.time.aheadMs()).toBe(0);
  });

  it("follows clocks that drift apart", () => {
    const server = aServer({ aheadMs: hour });
    for (let count = 0; count < 1_000; count++) {
      server.answer();
      server.pass(10_000);
      server.state.serverMs += 2;
    }
    expect(Math.abs(server.errorMs())).toBeLessThan(1_100);
  });
});

it("makes a clock with the server's time and local durations", () => {
  const { time, state, answer, pass } = aServer({ aheadMs: hour });
  const local = {
    now: () => new Date(state.wallMs),
    monotonicMs: () => state.monotonicMs,
    sleep: () => Promise.resolve(),
    setTimer: () => ({ cancel: () => undefined }),
  };
  answer();
  pass(10_000);
  const clock = serverClock(local, time);
  expect(Math.abs(clock.now().getTime() - state.serverMs)).toBeLessThan(1_100);
  expect(clock.monotonicMs()).toBe(state.monotonicMs);
  expect(serverClock(local, undefined)).toBe(local);
});
