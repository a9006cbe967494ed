import { createVirtualClock } from "@millwright/base/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createAdaptiveLimit } from "./adaptive-limit.ts";
import type { Place, RequestOutcome } from "./adaptive-limit.ts";

const never = new AbortController().signal;
const good: RequestOutcome = { kind: "answered", latencyMs: 10 };
const throttled: RequestOutcome = { kind: "throttled" };

function setUp(max = 16) {
  const clock = createVirtualClock();
  return { clock, limit: createAdaptiveLimit({ clock, max }) };
}

test("lets as many in as it may, and the next one when one has left, in order", async () => {
  const { clock, limit } = setUp(2);
  const entered: number[] = [];
  const places: Place[] = [];
  for (const index of [0, 1, 2, 3]) {
    void limit.enter(never).then((place) => {
      entered.push(index);
      return places.push(place);
    });
  }
  await clock.advance(0);
  expect(entered).toEqual([0, 1]);
  places[0]?.leave(good);
  places[0]?.leave(good);
  await clock.advance(0);
  expect(entered).toEqual([0, 1, 2]);
  expect(limit.counts()).toEqual({ limit: 2, inFlight: 2, waiting: 1 });
});

test("halves for a burst of refusals once, and grows by one for each round of good answers", async () => {
  const { clock, limit } = setUp();
  await clock.advance(1);
  const burst = await Promise.all(Array.from({ length: 16 }, () => limit.enter(never)));
  await clock.advance(1);
  for (const place of burst) place.leave(throttled);
  expect(limit.counts().limit).toBe(8);
  const round = await Promise.all(Array.from({ length: 8 }, () => limit.enter(never)));
  for (const place of round) place.leave(good);
  expect(limit.counts().limit).toBeGreaterThan(8);
  expect(limit.counts().limit).toBeLessThanOrEqual(9);
});

test("takes a little off for answers that are far slower than usual", async () => {
  const { clock, limit } = setUp();
  for (let i = 0; i < 50; i++) (await limit.enter(never)).leave(good);
  await clock.advance(1);
  (await limit.enter(never)).leave({ kind: "answered", latencyMs: 900 });
  expect(limit.counts().limit).toBe(16);
  (await limit.enter(never)).leave({ kind: "answered", latencyMs: 5_000 });
  expect(limit.counts().limit).toBeCloseTo(14.4);
});

/** Sends one request after the other for a time; the server bears one in `everyMs`. Answers how many were sent and refused. */
async function storm(everyMs: number, forMs: number) {
  const { clock, limit } = setUp();
  let nextFreeMs = 0;
  let sent = 0;
  let refused = 0;
  const stop = new AbortController();
  const work = async (): Promise<void> => {
    for (;;) {
      const place = await limit.enter(stop.signal);
      sent++;
      await clock.sleep(5);
      const isRefused = clock.monotonicMs() < nextFreeMs;
      if (isRefused) refused++;
      else nextFreeMs = clock.monotonicMs() + everyMs;
      place.leave(isRefused ? throttled : good);
    }
  };
  const workers = Array.from({ length: 32 }, () => work().catch(() => {}));
  await clock.advance(forMs);
  stop.abort(new Error("over"));
  await clock.advance(60_000);
  await Promise.all(workers);
  return { sent, refused, pending: clock.pending() };
}

test("slows down to what a server bears that answers 429 at once, and never stops asking", async () => {
  const { sent, refused, pending } = await storm(500, 60_000);
  // 120 requests are borne. Without a limit 384,000 would be sent.
  expect(sent - refused).toBeGreaterThan(40);
  expect(refused).toBeLessThan(1_000);
  expect(pending).toBe(0);
});

test("never has more requests in flight than its limit, and loses no waiting request", async () => {
  const step = fc.record({
    do: fc.constantFrom("enter", "abort", "good", "throttled", "unknown", "advance"),
    which: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80, size: "max" }),
      fc.integer({ min: 1, max: 6 }),
      async (steps, max) => {
        const { clock, limit } = setUp(max);
        const inside: Place[] = [];
        const outside = new Set<AbortController>();
        for (const { do: what, which } of steps) {
          if (what === "enter") {
            const stop = new AbortController();
            outside.add(stop);
            void limit.enter(stop.signal).then(
              (place) => outside.delete(stop) && inside.push(place),
              () => outside.delete(stop),
            );
          } else if (what === "abort") [...outside][which % Math.max(1, outside.size)]?.abort(new Error("gone"));
          else if (what === "advance") await clock.advance(which * 100);
          else
            inside
              .splice(which % Math.max(1, inside.length), 1)[0]
              ?.leave({ kind: what === "good" ? "answered" : what, latencyMs: 1 });
          await clock.advance(0);
          expect(limit.counts().inFlight).toBe(inside.length);
          expect(limit.counts().limit).toBeGreaterThanOrEqual(1 / 16);
          expect(limit.counts().limit).toBeLessThanOrEqual(max);
          expect(inside.length).toBeLessThanOrEqual(max);
        }
        // All who are left get in once the others are out.
        for (let left = steps.length; left > 0 && (outside.size > 0 || inside.length > 0); left--) {
          inside.splice(0).forEach((place) => place.leave(good));
          await clock.advance(2_000);
        }
        expect([outside.size, inside.length, limit.counts().waiting, clock.pending()]).toEqual([0, 0, 0, 0]);
      },
    ),
  );
});
