import { MachineError, type MachineErrorCode } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { type CircuitCall, type CircuitOutcome, createCircuitBreaker } from "./circuit-breaker.ts";

const refused = (code: MachineErrorCode = "Unauthenticated", retryAfterMs?: number): CircuitOutcome => ({
  error: new MachineError(code, "no", retryAfterMs === undefined ? {} : { retryAfterMs }),
});

function setUp() {
  const clock = createVirtualClock();
  const events: string[] = [];
  /** Calls that `release` reports to be still held back. */
  let left = 100;
  const breaker = createCircuitBreaker(clock, {
    opened: ({ secret, machineClass = "*", code }) => void events.push(`opened ${secret} ${machineClass} ${code}`),
    closed: ({ secret, machineClass = "*" }) => void events.push(`closed ${secret} ${machineClass}`),
    release: (key, count) => {
      events.push(`release ${count} of ${key}`);
      return left;
    },
  });
  const call = (uid: string, change: Partial<CircuitCall> = {}): CircuitCall => ({
    uid,
    driver: "mock",
    secret: "cloud",
    machineClass: "small",
    kind: "create",
    inputs: "v1",
    ...change,
  });
  /** Makes a call and ends it; whether it was made. */
  const make = (uid: string, outcome: CircuitOutcome, change: Partial<CircuitCall> = {}): boolean => {
    const made = call(uid, change);
    if (breaker.enter(made) !== undefined) return false;
    breaker.leave(made, outcome);
    return true;
  };
  const open = (code?: MachineErrorCode): void => {
    for (const uid of ["1", "2", "3", "4", "5"]) make(uid, refused(code));
  };
  return { clock, breaker, events, call, make, open, noneLeft: () => void (left = 0) };
}

describe("a circuit", () => {
  it("opens after failures of five machines in a row, and not after those of one machine or after a success", () => {
    const { make, events } = setUp();
    for (let attempt = 0; attempt < 9; attempt++) make("1", refused());
    for (const uid of ["2", "3", "4"]) make(uid, refused());
    make("5", {});
    for (const uid of ["1", "2", "3", "4"]) make(uid, refused());
    expect(events).toEqual([]);
    make("6", refused());
    expect(events).toEqual(["opened cloud * Unauthenticated"]);
  });

  it.each<[string, CircuitOutcome, readonly string[]]>([
    ["throttled requests", refused("Unavailable", 1_000), ["opened cloud * Unavailable"]],
    ["a flaky cloud: not at all", refused("Unavailable"), []],
    ["a request rate", refused("ResourceExhausted", 1_000), ["opened cloud * ResourceExhausted"]],
    ["a missing permission, for the class", refused("PermissionDenied"), ["opened cloud small PermissionDenied"]],
    ["no capacity: not at all", refused("ResourceExhausted"), []],
    ["an invalid class: not at all", refused("InvalidArgument"), []],
    ["calls that hang: not at all", refused("DeadlineExceeded"), []],
    ["calls that we abort, or that fail outside of the driver: not at all", "inconclusive", []],
  ])("opens because of %s", (_, outcome, expected) => {
    const { make, events } = setUp();
    for (const uid of ["1", "2", "3", "4", "5"]) make(uid, outcome);
    expect(events).toEqual(expected);
  });

  it("opens because of Unavailable after twenty machines in a row", () => {
    const { make, events } = setUp();
    for (let machine = 1; machine < 20; machine++) make(`${machine}`, refused("Unavailable"));
    expect(events).toEqual([]);
    make("20", refused("Unavailable"));
    expect(events).toEqual(["opened cloud * Unavailable"]);
  });

  it("holds calls back, with the reason and the time after which they are tried, calls about existing VMs first", () => {
    const { breaker, call, open } = setUp();
    open();
    const creation = breaker.enter(call("6"))?.error;
    const deletion = breaker.enter(call("7", { kind: "delete" }))?.error;
    expect(creation?.code).toBe("Unauthenticated");
    expect(creation?.message).toBe(
      'Waiting: Secret "cloud" of driver "mock" is refused since 2026-01-01T00:00:00Z: no. One call at a time retries; a change of the Secret or class does so at once',
    );
    expect((creation?.retryAfterMs ?? 0) - (deletion?.retryAfterMs ?? 0)).toBe(1_000);
    expect(breaker.open()).toMatchObject([{ driver: "mock", secret: "cloud", code: "Unauthenticated" }]);
  });

  it("does not hold back calls with another credential or driver", () => {
    const { make, open } = setUp();
    open();
    expect([make("6", {}, { secret: "other" }), make("7", {}, { driver: "other" })]).toEqual([true, true]);
    expect(make("8", {})).toBe(false);
  });

  it("lets one call through after each interval, which grows up to five minutes", async () => {
    const { clock, breaker, call, open } = setUp();
    open();
    const probes: number[] = [];
    for (let second = 1; second <= 3_600; second++) {
      await clock.advance(1_000);
      const [probe, other] = [call("6"), call("7")];
      if (breaker.enter(probe) !== undefined) continue;
      expect(breaker.enter(other)).toBeDefined();
      breaker.leave(probe, refused());
      probes.push(second);
    }
    expect(probes[0]).toBeLessThanOrEqual(16);
    const gaps = probes.slice(1).map((at, index) => at - (probes[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(301);
    expect(gaps.at(-1)).toBeGreaterThanOrEqual(240);
    expect(probes.length).toBeLessThanOrEqual(20);
  });

  it("waits as long as the cloud requests", async () => {
    const { clock, breaker, call, make } = setUp();
    for (const uid of ["1", "2", "3", "4", "5"]) make(uid, refused("Unavailable", 90_000));
    await clock.advance(89_000);
    expect(breaker.enter(call("6"))).toBeDefined();
    await clock.advance(1_000);
    expect(breaker.enter(call("6"))).toBeUndefined();
  });

  it("recovers after a success with two calls, then four, and ends when none is held back", async () => {
    const { clock, breaker, call, open, events, noneLeft } = setUp();
    open();
    await clock.advance(15_000);
    const probe = call("1");
    expect(breaker.enter(probe)).toBeUndefined();
    breaker.leave(probe, {});
    expect(events.at(-1)).toBe("release 2 of mock/cloud");
    expect([breaker.enter(call("2")), breaker.enter(call("3"))]).toEqual([undefined, undefined]);
    expect(breaker.enter(call("4"))).toBeDefined();
    breaker.leave(call("2"), {});
    expect(events.at(-1)).toBe("release 3 of mock/cloud");
    noneLeft();
    breaker.leave(call("3"), {});
    expect(events).toContain("closed cloud *");
    expect(breaker.open()).toEqual([]);
  });

  it("opens again when a call fails during the recovery", async () => {
    const { clock, breaker, call, open, make } = setUp();
    open();
    await clock.advance(15_000);
    make("1", {});
    make("2", refused());
    expect(breaker.enter(call("3"))).toBeDefined();
  });

  it("ignores calls that began before it opened, and goes on when its probe is aborted or hangs", async () => {
    const { clock, breaker, call, open, make, events } = setUp();
    const [late, later] = [call("late"), call("later")];
    breaker.enter(late);
    breaker.enter(later);
    open();
    breaker.leave(late, {});
    breaker.leave(later, refused());
    expect(events).toEqual(["opened cloud * Unauthenticated"]);
    await clock.advance(15_000);
    expect([make("1", "inconclusive"), make("2", refused("DeadlineExceeded")), make("3", {})]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("closes at once when the class or its Secret changes", () => {
    const { make, open, events } = setUp();
    open();
    expect(make("6", {}, { inputs: "v2" })).toBe(true);
    expect(events.slice(1)).toEqual(["closed cloud *", "release Infinity of mock/cloud"]);
  });

  it("of a class holds back neither other classes, nor deletions that are permitted", () => {
    const { make, open } = setUp();
    open("PermissionDenied");
    expect([make("6", {}), make("7", {}, { machineClass: "large" }), make("8", {}, { kind: "delete" })]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("of a class is not closed by a failure of the credential", async () => {
    const { clock, breaker, call, open, make } = setUp();
    open("PermissionDenied");
    await clock.advance(15_000);
    make("6", refused("Unavailable"));
    expect(breaker.open()).toHaveLength(1);
    expect(breaker.enter(call("7"))).toBeUndefined();
  });
});
