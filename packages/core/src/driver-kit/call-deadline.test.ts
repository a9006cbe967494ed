import { describe, expect, it } from "vitest";
import { createVirtualClock } from "@millwright/base/testing";
import { aContext } from "../testing/driver-call.ts";
import { deadlineOf, setDeadline, startWaitingTime } from "./call-deadline.ts";

function aCall(callMs?: number) {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const context = { ...aContext(stop.signal), clock };
  return {
    clock,
    stop,
    context: callMs === undefined ? context : { ...context, remainingMs: () => callMs - clock.monotonicMs() },
  };
}

describe("the deadline of a signal", () => {
  it("is the one that was noted, or else in five minutes", async () => {
    const { clock, context } = aCall();
    const remainingMs = deadlineOf(context.signal, clock);
    await clock.advance(60_000);
    expect(remainingMs()).toBe(240_000);
    setDeadline(context.signal, () => 7);
    expect(deadlineOf(context.signal, clock)()).toBe(7);
  });
});

describe("the time in which a call may wait", () => {
  it("ends a minute before the deadline of the call", async () => {
    const { clock, context } = aCall(400_000);
    const waiting = startWaitingTime(context);
    expect(deadlineOf(waiting.context.signal, clock)()).toBe(340_000);
    await clock.advance(339_999);
    expect([waiting.isOver(), waiting.context.signal.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect(waiting.isOver()).toBe(true);
    expect(waiting.context.signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("is four minutes where the host states no deadline, and all of a short call", async () => {
    const { clock, context } = aCall();
    expect(deadlineOf(startWaitingTime(context).context.signal, clock)()).toBe(240_000);
    const short = aCall(100_000);
    expect(deadlineOf(startWaitingTime(short.context).context.signal, short.clock)()).toBe(100_000);
  });

  it("is not over when the call itself ends, and leaves no timer behind", () => {
    const { clock, stop, context } = aCall();
    const waiting = startWaitingTime(context);
    stop.abort(new Error("stop"));
    waiting.end();
    expect([waiting.isOver(), waiting.context.signal.aborted, clock.pending()]).toEqual([false, true, 0]);
  });
});
