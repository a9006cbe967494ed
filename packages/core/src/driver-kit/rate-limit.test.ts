import { describe, expect, it } from "vitest";
import { type Random, seededRandom } from "@millwright/base";
import { createVirtualClock, type VirtualClock } from "@millwright/base/testing";
import { setDeadline } from "./call-deadline.ts";
import { createRateLimit, type RateLimit, type RateTicket } from "./rate-limit.ts";

const noJitter: Random = { ...seededRandom(1), next: () => 0 };
const forever = new AbortController().signal;

/** The signal of a call that has so long, milliseconds. */
function signalFor(clock: VirtualClock, callMs: number): AbortSignal {
  const { signal } = new AbortController();
  setDeadline(signal, () => callMs - clock.monotonicMs());
  return signal;
}

function aLimit(random = noJitter) {
  const clock = createVirtualClock();
  const limit = createRateLimit({ cloud: "Cloud", action: "MakeVm", clock, random });
  return { clock, limit };
}

/** Sends a request as soon as it may be sent. */
async function send(limit: RateLimit, signal = forever): Promise<RateTicket> {
  const ticket = limit.ticket();
  do await limit.turn(ticket, signal);
  while (!limit.take(ticket));
  return ticket;
}

/** A limit whose rate has been measured: 9 requests and what is left of one in 4 s, of which nine tenths are used. */
const measuredPerSecond = 0.9 * 2.5;
async function aMeasuredLimit() {
  const { clock, limit } = aLimit();
  limit.rejected(await send(limit), "Slow", 0);
  const accepted = Array.from({ length: 9 }, () => send(limit).then((ticket) => limit.accepted(ticket)));
  const last = send(limit);
  await clock.advance(4_000);
  await Promise.all(accepted);
  limit.rejected(await last, "Slow", 0);
  return { clock, limit };
}

describe("a rate limit", () => {
  it("costs nothing as long as no request is refused", async () => {
    const { clock, limit } = aLimit();
    for (let count = 0; count < 1_000; count++) limit.accepted(await send(limit));
    expect([clock.monotonicMs(), clock.pending()]).toEqual([0, 0]);
  });

  it("gives turns in the order in which requests came, also to those that were refused", async () => {
    const { clock, limit } = aLimit();
    const order: string[] = [];
    const first = await send(limit);
    const others = ["second", "third"].map((name) => ({ name, ticket: limit.ticket() }));
    limit.rejected(first, "Slow", 0);
    const wait = async (name: string, ticket: RateTicket): Promise<void> => {
      await limit.turn(ticket, forever);
      expect(limit.take(ticket)).toBe(true);
      order.push(name);
    };
    const all = others.map(({ name, ticket }) => wait(name, ticket));
    all.push(wait("first", first));
    await clock.advance(10_000);
    await Promise.all(all);
    expect(order).toEqual(["first", "second", "third"]);
    expect(clock.pending()).toBe(0);
  });

  it("makes a request wait that was not sent yet when another one was refused", async () => {
    const { limit } = aLimit();
    const late = limit.ticket();
    await limit.turn(late, forever);
    limit.rejected(await send(limit), "Slow", 0);
    expect(limit.take(late)).toBe(false);
  });

  it("takes the refusals of requests that were sent together for one", async () => {
    const { clock, limit } = aLimit();
    const burst = await Promise.all(Array.from({ length: 20 }, () => send(limit)));
    for (const ticket of burst) limit.rejected(ticket, "Slow", 0);
    let sentAtMs = 0;
    void send(limit).then(() => (sentAtMs = clock.monotonicMs()));
    await clock.advance(10_000);
    expect(sentAtMs).toBe(1_000);
  });

  it("sends nothing while the cloud asks for a pause, and a little later where there is jitter", async () => {
    for (const [jitter, expectedMs] of [
      [0, 30_000],
      [1, 33_000],
    ] as const) {
      const { clock, limit } = aLimit({ ...noJitter, next: () => jitter });
      limit.rejected(await send(limit), "Slow", 30_000);
      let sentAtMs = 0;
      void send(limit).then(() => (sentAtMs = clock.monotonicMs()));
      await clock.advance(60_000);
      expect(sentAtMs).toBe(expectedMs);
    }
  });

  it("ends a minute after the last refusal, when nothing waits", async () => {
    const { clock, limit } = aLimit();
    limit.rejected(await send(limit), "Slow", 0);
    await clock.advance(60_001);
    for (let count = 0; count < 100; count++) await send(limit);
    expect(clock.pending()).toBe(0);
  });

  it("lets a request leave whose signal aborts, and passes on the turn of one that ends", async () => {
    const { clock, limit } = aLimit();
    limit.rejected(await send(limit), "Slow", 0);
    const stop = new AbortController();
    const aborted = send(limit, stop.signal);
    const ended = limit.ticket();
    const turn = limit.turn(ended, forever);
    const next = send(limit);
    stop.abort(new Error("stopped"));
    await expect(aborted).rejects.toThrow("stopped");
    await clock.advance(1_000);
    await turn;
    limit.leave(ended);
    await next;
    expect(clock.pending()).toBe(0);
  });

  it("sends away who would wait beyond the deadline of the call, each with a time of its own", async () => {
    const { clock, limit } = await aMeasuredLimit();
    const waiting = Array.from({ length: 90 }, () => send(limit));
    const deadline = signalFor(clock, clock.monotonicMs() + 30_000);
    const failures = await Promise.all(
      [1, 2, 3].map(() => send(limit, deadline).catch((error: unknown) => error as Error & { retryAfterMs: number })),
    );
    expect(failures[0]).toMatchObject({
      code: "Unavailable",
      message: "Cloud throttles MakeVm (Slow): the wait for a turn exceeds the deadline of the call",
    });
    const times = failures.map((failure) => ("retryAfterMs" in failure ? failure.retryAfterMs : 0));
    expect(times[0]).toBeCloseTo(91_000 / measuredPerSecond, -1);
    expect(times.map((ms, index) => ms - (times[index - 1] ?? ms)).slice(1)).toEqual([
      expect.closeTo(1_000 / measuredPerSecond, -1),
      expect.closeTo(1_000 / measuredPerSecond, -1),
    ]);
    await clock.advance(120_000);
    await Promise.all(waiting);
  });

  it("sends away those at the end of the queue when the rate turns out too low for them, and keeps the others", async () => {
    const { clock, limit } = aLimit();
    limit.rejected(await send(limit), "Slow", 0);
    const deadline = signalFor(clock, 30_000);
    const ended: string[] = [];
    const waiting = Array.from({ length: 50 }, async (_, index) => {
      const ticket = await send(limit, deadline).catch(() => undefined);
      ended.push(`${ticket === undefined ? "late" : "sent"} ${index}`);
      return ticket;
    });
    // A rate that is not known yet sends no one away.
    await clock.advance(1_000);
    expect(ended).toEqual(["sent 0"]);
    const [first] = waiting;
    const ticket = await first;
    if (ticket !== undefined) limit.accepted(ticket);
    await clock.advance(1_000);
    const second = await waiting[1];
    if (second !== undefined) limit.rejected(second, "Slow", 0);
    await clock.advance(0);
    const late = ended.filter((each) => each.startsWith("late"));
    expect(late.length).toBeGreaterThan(5);
    expect(late).toEqual(Array.from({ length: late.length }, (_, index) => `late ${50 - late.length + index}`));
    await clock.advance(60_000);
    expect(ended).toHaveLength(50);
  });
});
