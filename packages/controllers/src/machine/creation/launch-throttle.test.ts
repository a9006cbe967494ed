import { createVirtualClock } from "@millwright/core/testing";
import type { Clock } from "@millwright/base";
import type { MachineErrorCode } from "@millwright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLaunchThrottle, type LaunchLimits, type LaunchOutcome } from "./launch-throttle.ts";
import { fixed } from "../../model/live.ts";

const ok: LaunchOutcome = { kind: "success" };
const accepted: LaunchOutcome = { kind: "accepted" };
const no = (code: MachineErrorCode, retryAfterMs?: number): LaunchOutcome => ({
  kind: "failure",
  backoff: { code, message: `no: ${code}` },
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

function setUp(
  changes: Partial<LaunchLimits> = {},
  limits = { perGroup: 2, inAll: 100, exhaustedRetryMs: 600_000, ...changes },
) {
  const clock = createVirtualClock();
  const throttle = createLaunchThrottle(clock, fixed(limits));
  /** UIDs of the calls that run, in the order in which they began. */
  const running: string[] = [];
  const notified: string[] = [];
  const enter = (
    uid: string,
    change: {
      readonly credential?: string;
      readonly inputs?: string;
      readonly isRepeated?: boolean;
      readonly isAccepted?: boolean;
    } = {},
  ) =>
    throttle.enter({
      uid,
      group: uid.slice(0, 1),
      inputs: "v1",
      isRepeated: false,
      begin: () => void running.push(uid),
      changed: () => void notified.push(uid),
      ...change,
    });
  const leave = (uid: string, outcome: LaunchOutcome = ok) => {
    running.splice(running.indexOf(uid), 1);
    throttle.leave(uid, outcome);
  };
  const enterAll = (...uids: readonly string[]) => uids.forEach((uid) => enter(uid));
  return { clock, throttle, running, notified, enter, leave, enterAll };
}

describe("launch throttle", () => {
  it("limits the concurrent calls of a class, in order of arrival", () => {
    const { running, leave, enterAll } = setUp();
    enterAll("a1", "a2", "a3", "a4");
    expect(running).toEqual(["a1", "a2"]);
    leave("a1");
    expect(running).toEqual(["a2", "a3"]);
  });

  it("follows limits that change while calls run and wait", () => {
    const limits = { perGroup: 1, inAll: 2, exhaustedRetryMs: 600_000 };
    const { throttle, running, leave, enterAll } = setUp({}, limits);
    enterAll("a1", "a2", "a3", "a4", "b1");
    expect(running).toEqual(["a1", "b1"]);
    limits.perGroup = 3;
    throttle.limitsChanged();
    expect(running).toEqual(["a1", "b1"]);
    limits.inAll = 10;
    throttle.limitsChanged();
    expect(running).toEqual(["a1", "b1", "a2", "a3"]);
    limits.perGroup = 1;
    throttle.limitsChanged();
    leave("a1");
    leave("a2");
    expect(running).toEqual(["b1", "a3"]);
    leave("a3");
    expect(running).toEqual(["b1", "a4"]);
  });

  it("goes on after a backoff whose timer fires early, although its time comes while it looks", async () => {
    const virtual = createVirtualClock();
    // As on a system clock, time passes between two readings, and a timer may fire a fraction of a millisecond early.
    let readings = 0;
    const clock: Clock = {
      ...virtual,
      monotonicMs: () => virtual.monotonicMs() + readings++ * 0.001,
      setTimer: (ms, run) => virtual.setTimer(Math.max(0.001, ms - 0.0015), run),
    };
    const throttle = createLaunchThrottle(clock, fixed({ perGroup: 2, inAll: 100, exhaustedRetryMs: 1_000 }));
    let attempts = 0;
    const entry = { group: "a", inputs: "v1", isRepeated: false, changed: () => undefined };
    throttle.enter({ ...entry, uid: "a1", begin: () => undefined });
    throttle.leave("a1", no("ResourceExhausted"));
    throttle.enter({ ...entry, uid: "a2", begin: () => void attempts++ });
    await virtual.advance(2_000);
    expect(attempts).toBe(1);
    throttle.close();
  });

  it("recovers to a limit that was raised during the backoff", async () => {
    const limits = { perGroup: 2, inAll: 100, exhaustedRetryMs: 600_000 };
    const { clock, throttle, running, leave, enterAll } = setUp({}, limits);
    enterAll("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8");
    leave("a1", no("ResourceExhausted"));
    limits.perGroup = 4;
    throttle.limitsChanged();
    leave("a2");
    expect(running).toEqual([]);
    await clock.advance(600_000);
    expect(running).toEqual(["a3"]);
    leave("a3");
    expect(running).toEqual(["a4", "a5"]);
    leave("a4");
    expect(running).toHaveLength(4);
  });

  it("is round-robin when the total is limited: a class with many machines does not starve another", () => {
    const { running, leave, enterAll } = setUp({ perGroup: 3, inAll: 3 });
    enterAll("a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2", "c1");
    // Each of three groups has a share of one call.
    expect(running).toEqual(["a1", "a2", "a3", "b1", "c1"]);
    leave("a1");
    leave("a2");
    leave("a3");
    expect(running.toSorted()).toEqual(["a4", "b1", "c1"]);
  });

  it("starts a class beyond the total when calls of others hang, up to its share", () => {
    const { running, enterAll } = setUp({ perGroup: 5, inAll: 10 });
    const calls = (group: string) => Array.from({ length: 9 }, (_, index) => `${group}${index}`);
    enterAll(...calls("a"), ...calls("b"));
    expect(running).toHaveLength(10);
    enterAll(...calls("c"));
    expect(running.filter((uid) => uid.startsWith("c"))).toHaveLength(3);
  });

  it("shares the total among credentials, however many classes one of them has", () => {
    const { running, enter } = setUp({ perGroup: 5, inAll: 10 });
    for (const group of "abcdefghij") for (const index of [0, 1]) enter(`${group}${index}`, { credential: "hangs" });
    for (const index of [0, 1, 2, 3, 4, 5]) enter(`z${index}`, { credential: "works" });
    expect(running.filter((uid) => uid.startsWith("z"))).toHaveLength(5);
  });

  it("accepts a machine once", () => {
    const { running, enterAll } = setUp();
    enterAll("a1", "a1");
    expect(running).toEqual(["a1"]);
  });

  it("cancels calls, and ignores unknown ones", () => {
    const { throttle, running, leave, enterAll } = setUp({ perGroup: 1 });
    enterAll("a1", "a2", "a3");
    throttle.cancel("a2");
    throttle.cancel("a1");
    throttle.cancel("x");
    throttle.leave("x", ok);
    throttle.leave("a3", ok);
    leave("a1");
    expect(running).toEqual(["a3"]);
  });

  it("starts nothing after it was closed", async () => {
    const { clock, throttle, running, leave, enterAll } = setUp({ perGroup: 1 });
    enterAll("a1", "a2");
    leave("a1", no("ResourceExhausted"));
    throttle.close();
    enterAll("a3");
    await clock.advance(3_600_000);
    expect([running, clock.pending()]).toEqual([[], 0]);
  });
});

describe("a creation that was accepted", () => {
  it("does not count while it is pending: all machines of a class are provisioned at once", () => {
    const { running, leave, enterAll } = setUp({ perGroup: 2, inAll: 2 });
    enterAll("a1", "a2", "a3", "a4", "a5");
    for (const uid of ["a1", "a2", "a3", "a4"]) leave(uid, accepted);
    expect(running).toEqual(["a5"]);
  });

  it("is checked at once, whatever others wait for, and counts for its class when it ends", async () => {
    const { throttle, clock, running, enter, leave, enterAll } = setUp({ perGroup: 2 });
    enterAll("a1", "a2");
    leave("a1", accepted);
    leave("a2", no("ResourceExhausted"));
    enterAll("a3");
    enter("a1");
    enter("a1");
    expect(running).toEqual(["a1", "a1"]);
    leave("a1", accepted);
    // It was accepted before the failure, so its outcome is ignored.
    leave("a1");
    expect([throttle.classBackoffOf("a")?.code, running]).toEqual(["ResourceExhausted", []]);
    await clock.advance(30_001);
    expect(running).toEqual(["a3"]);
    leave("a3", accepted);
    enter("a3");
    leave("a3");
    expect(throttle.classBackoffOf("a")).toBeUndefined();
  });

  it("is one attempt of a class in backoff: others wait until it has ended", async () => {
    const { clock, throttle, running, enter, leave, enterAll } = setUp({ perGroup: 4 });
    enterAll("a1");
    leave("a1", no("ResourceExhausted"));
    enterAll("a2", "a3", "a4", "a5", "a6");
    await clock.advance(30_001);
    leave("a2", accepted);
    await clock.advance(3_600_000);
    expect(running).toEqual([]);
    enter("a2");
    leave("a2");
    // Two may follow, one after another.
    expect(running).toEqual(["a3", "a4"]);
    leave("a3", accepted);
    expect(running).toEqual(["a4"]);
    enter("a3");
    leave("a3", no("ResourceExhausted"));
    expect(throttle.classBackoffOf("a")?.code).toBe("ResourceExhausted");
  });

  it("is checked by the next process without waiting for its turn", () => {
    const { running, enter, enterAll } = setUp({ perGroup: 1 });
    enterAll("a1");
    enter("a2", { isAccepted: true });
    enter("a3", { isAccepted: true });
    expect(running).toEqual(["a1", "a2", "a3"]);
  });

  it("is forgotten when it is canceled, and its call with it", () => {
    const { throttle, running, enter, leave, enterAll } = setUp({ perGroup: 1 });
    enterAll("a1");
    leave("a1", accepted);
    enter("a1");
    throttle.cancel("a1");
    leave("a1", no("ResourceExhausted"));
    expect(throttle.classBackoffOf("a")).toBeUndefined();
    enterAll("a1", "a2");
    expect(running).toEqual(["a1"]);
  });
});

describe("a class in backoff", () => {
  it("is retried by one machine at a time after ResourceExhausted, with growing delays, until it succeeds and the others follow", async () => {
    const { clock, throttle, running, notified, leave, enterAll } = setUp({ perGroup: 4 });
    enterAll("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8");
    leave("a1", no("ResourceExhausted"));
    expect(throttle.classBackoffOf("a")).toEqual({ code: "ResourceExhausted", message: "no: ResourceExhausted" });
    expect(notified).toEqual(["a5", "a6", "a7", "a8"]);
    // Outcomes of calls that began before are ignored.
    leave("a2", no("ResourceExhausted"));
    leave("a3");
    leave("a4", no("Internal"));
    expect(running).toEqual([]);
    await clock.advance(23_000);
    expect(running).toEqual([]);
    await clock.advance(7_001);
    expect(running).toEqual(["a5"]);
    leave("a5", no("ResourceExhausted"));
    await clock.advance(47_000);
    expect(running).toEqual([]);
    await clock.advance(13_001);
    expect(running).toEqual(["a6"]);
    expect(notified).toHaveLength(4);
    leave("a6");
    expect([running, throttle.classBackoffOf("a")]).toEqual([["a7", "a8"], undefined]);
  });

  it("is retried every ten minutes at most in the end, and not before the cloud allows it", async () => {
    const { clock, running, leave, enterAll } = setUp();
    enterAll(...Array.from({ length: 40 }, (_, index) => `a${index}`));
    leave("a0", no("ResourceExhausted", 3_600_000));
    leave("a1");
    await clock.advance(3_599_000);
    expect(running).toEqual([]);
    await clock.advance(1_001);
    const tried = new Set<string>();
    for (let minute = 0; minute < 120; minute++) {
      const [probe] = running;
      if (probe !== undefined) {
        tried.add(probe);
        leave(probe, no("ResourceExhausted"));
      }
      await clock.advance(60_000);
    }
    // 480 s to 600 s apart, after the shorter ones of the beginning.
    expect(tried.size).toBeGreaterThanOrEqual(12);
    expect(tried.size).toBeLessThanOrEqual(20);
  });

  it.each([
    ["Unauthenticated", 3],
    ["InvalidArgument", 3],
    ["Unavailable", 5],
    ["Unknown", 5],
  ] as const)("is one after %s of %i machines in a row, and before that its machines are", (code, times) => {
    const { throttle, running, leave, enter } = setUp({ perGroup: 20 });
    for (let index = 1; index <= times; index++) {
      expect(throttle.classBackoffOf("a")).toBeUndefined();
      enter(`a${index}`);
      leave(`a${index}`, no(code));
    }
    expect(throttle.classBackoffOf("a")?.code).toBe(code);
    enter("a9");
    expect(running).toEqual([]);
  });

  it.each(["AlreadyExists", "OutOfRange", "NotFound"] as const)(
    "is none because of %s, which is one machine's",
    (code) => {
      const { throttle, enter, leave } = setUp();
      for (let index = 0; index < 20; index++) {
        enter(`a${index}`);
        leave(`a${index}`, no(code));
      }
      expect(throttle.classBackoffOf("a")).toBeUndefined();
    },
  );

  it("is none because of calls that were stopped from outside, or that another success follows", () => {
    const { throttle, enter, leave } = setUp();
    for (let index = 0; index < 20; index++) {
      enter(`a${index}`);
      leave(`a${index}`, index % 3 === 0 ? ok : index % 3 === 1 ? { kind: "ended" } : no("Internal"));
    }
    expect(throttle.classBackoffOf("a")).toBeUndefined();
  });

  it("does not touch another class", () => {
    const { running, leave, enterAll } = setUp();
    enterAll("a1", "b1");
    leave("a1", no("ResourceExhausted"));
    enterAll("a2", "b2");
    expect(running).toEqual(["b1", "b2"]);
  });

  it("is reset with a new version of class or secret, and waiting calls with an old one are notified", () => {
    const { throttle, running, notified, enter, leave, enterAll } = setUp();
    enterAll("a1");
    leave("a1", no("Unauthenticated"));
    enterAll("a2");
    leave("a2", no("ResourceExhausted"));
    enterAll("a3", "a5");
    expect(running).toEqual([]);
    enter("a4", { inputs: "v2" });
    expect([running, throttle.classBackoffOf("a"), notified]).toEqual([["a4"], undefined, ["a3", "a5"]]);
    throttle.cancel("a3");
    enter("a3", { inputs: "v2" });
    expect(running).toEqual(["a4", "a3"]);
  });

  it("does not wait forever for calls that do not return with a new version", async () => {
    const { clock, running, enter, leave, enterAll } = setUp({ perGroup: 1 });
    enterAll("a1", "a2");
    enter("a3", { inputs: "v2" });
    leave("a1");
    expect(running).toEqual(["a3"]);
    leave("a3");
    expect(running).toEqual([]);
    await clock.advance(5_000);
    expect(running).toEqual(["a2"]);
  });

  it("is reported again when the failure changes", async () => {
    const { clock, throttle, running, notified, leave, enterAll } = setUp();
    enterAll("a1", "a2", "a3", "a4");
    leave("a1", no("ResourceExhausted"));
    leave("a2");
    await clock.advance(30_001);
    leave(running[0] ?? "", no("Unauthenticated"));
    expect(throttle.classBackoffOf("a")?.code).toBe("Unauthenticated");
    expect(notified).toEqual(["a3", "a4", "a4"]);
  });

  it("is detected by one machine when those that failed before return all at once after a restart", () => {
    const { running, leave, enter } = setUp({ perGroup: 4 });
    for (let index = 1; index <= 9; index++) enter(`a${index}`, { isRepeated: true });
    expect(running).toEqual(["a1"]);
    leave("a1");
    expect(running).toEqual(["a2", "a3"]);
    leave("a2");
    expect(running).toEqual(["a3", "a4", "a5", "a6"]);
  });

  it("is forgotten when it was not used for long", async () => {
    const { clock, throttle, leave, enter } = setUp();
    enter("a1");
    leave("a1", no("ResourceExhausted"));
    await clock.advance(2 * 3_600_000);
    enter("a2");
    leave("a2", { kind: "ended" });
    expect([throttle.classBackoffOf("a"), clock.pending()]).toEqual([undefined, 0]);
  });
});

it("never exceeds its limits, forgets no call and leaves no timer, whatever happens", async () => {
  const outcomes = fc.constantFrom<LaunchOutcome>(
    ok,
    accepted,
    no("ResourceExhausted"),
    no("Internal"),
    no("AlreadyExists"),
    { kind: "ended" },
  );
  const steps = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant("enter" as const), uid: fc.constantFrom("a1", "a2", "a3", "b1", "b2", "c1") }),
      fc.record({ do: fc.constant("cancel" as const), uid: fc.constantFrom("a1", "a2", "a3", "b1", "b2", "c1") }),
      fc.record({ do: fc.constant("leave" as const), outcome: outcomes }),
      fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1_000, 60_000, 700_000) }),
    ),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const { clock, throttle, running, enter, leave } = setUp({ perGroup: 2, inAll: 3 });
      const expected = new Set<string>();
      /** Accepted, whether or not a call checks it. */
      const pending = new Set<string>();
      for (const step of script) {
        if (step.do === "enter") {
          // A machine has one call at a time.
          if (!running.includes(step.uid)) enter(step.uid);
          expected.add(step.uid);
        } else if (step.do === "cancel") {
          throttle.cancel(step.uid);
          if (!running.includes(step.uid) || pending.has(step.uid)) expected.delete(step.uid);
          if (pending.delete(step.uid) && running.includes(step.uid)) running.splice(running.indexOf(step.uid), 1);
        } else if (step.do === "wait") await clock.advance(step.ms);
        else {
          const [uid] = running;
          if (uid !== undefined) {
            if (step.outcome.kind === "accepted") pending.add(uid);
            else {
              expected.delete(uid);
              pending.delete(uid);
            }
            leave(uid, step.outcome);
          }
        }
        const launches = running.filter((uid) => !pending.has(uid));
        expect(launches.length).toBeLessThanOrEqual(3);
        for (const group of ["a", "b", "c"])
          expect(launches.filter((uid) => uid.startsWith(group)).length).toBeLessThanOrEqual(2);
      }
      // When calls succeed, everybody gets his turn.
      for (let round = 0; round < 30; round++) {
        for (const uid of pending) if (!running.includes(uid)) enter(uid);
        pending.clear();
        for (const uid of running.slice()) {
          expected.delete(uid);
          leave(uid);
        }
        await clock.advance(700_000);
      }
      expect([...expected]).toEqual([]);
      expect(clock.pending()).toBe(0);
    }),
    { numRuns: 200 },
  );
});
