import { seededRandom, systemClock } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { backoffDelay } from "../backoff.ts";
import { createQueue } from "./queue.ts";
import { changesInARow, createReadyLine } from "./ready-line.ts";
import type { Priority } from "./ready-line.ts";

function setUp(backoff = { initialMs: 1_000, maxMs: 60_000 }) {
  const clock = createVirtualClock();
  return { clock, queue: createQueue({ clock, random: seededRandom(1), backoff }) };
}

test("gives keys out in the order in which they became ready, each once", async () => {
  const { queue } = setUp();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  expect(queue.length).toBe(3);
  expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(["a", "b", "c"]);
});

test("keeps a key back while a worker has it, and gives it out once more afterwards", async () => {
  const { queue } = setUp();
  queue.add("a");
  await queue.take();
  queue.add("a");
  queue.add("a");
  queue.add("b");
  expect(await queue.take()).toBe("b");
  expect(queue.length).toBe(0);
  queue.done("a");
  expect(await queue.take()).toBe("a");
  queue.done("a");
  expect(queue.length).toBe(0);
});

test("hands a key to a worker that waits, the first one first", async () => {
  const { queue } = setUp();
  const first = queue.take();
  const second = queue.take();
  queue.add("a");
  queue.add("b");
  expect(await first).toBe("a");
  expect(await second).toBe("b");
});

test("lets the earliest of several times count", async () => {
  const { clock, queue } = setUp();
  queue.addAfter("a", 5_000);
  queue.addAfter("a", 1_000);
  queue.addAfter("a", 3_000);
  expect(queue.counts().delayed).toBe(1);
  await clock.advance(999);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1);
  expect(await queue.take()).toBe("a");
  queue.done("a");
  await clock.advance(10_000);
  expect(queue.length).toBe(0);
});

test("supports delays longer than the maximum of setTimeout", async () => {
  const { clock, queue } = setUp();
  const monthMs = 31 * 24 * 3_600_000;
  queue.addAfter("a", monthMs);
  await clock.advance(monthMs - 1);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1);
  const real = createQueue({ clock: systemClock, random: seededRandom(1), backoff: { initialMs: 1, maxMs: 2 } });
  real.addAfter("b", 2 ** 31);
  real.addAfter("c", Infinity);
  await systemClock.sleep(20);
  expect(real.length).toBe(0);
  await real.shutDown();
});

test("makes a key ready at once for zero, a negative number and NaN", () => {
  const { queue } = setUp();
  queue.addAfter("a", 0);
  queue.addAfter("b", -5);
  queue.addAfter("c", Number.NaN);
  expect(queue.length).toBe(3);
});

test("lets delays of a key grow until it is forgotten, and those of others alone", () => {
  const { queue } = setUp();
  const delays = Array.from({ length: 20 }, () => queue.addWithBackoff("a"));
  expect(delays[0]).toBeLessThanOrEqual(1_000);
  expect(delays[3]).toBeGreaterThanOrEqual(4_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(60_000);
  expect(delays.at(-1)).toBeGreaterThanOrEqual(30_000);
  expect(queue.failures("a")).toBe(20);
  expect(queue.addWithBackoff("b")).toBeLessThanOrEqual(1_000);
  queue.forget("a");
  expect(queue.failures("a")).toBe(0);
  expect(queue.addWithBackoff("a")).toBeLessThanOrEqual(1_000);
});

test("still gives out what is ready when it is shut down, and resolves when the last worker is done", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  queue.addAfter("later", 1_000);
  expect(await queue.take()).toBe("a");
  queue.add("b");
  let drained = false;
  const end = queue.shutDown().then(() => (drained = true));
  queue.add("refused");
  expect(clock.pending()).toBe(0);
  expect(await queue.take()).toBe("b");
  const idle = queue.take();
  queue.done("a");
  await Promise.resolve();
  expect(drained).toBe(false);
  queue.done("b");
  await end;
  expect(await idle).toBeUndefined();
  expect(await queue.take()).toBeUndefined();
});

test("loses no key to a worker that stops waiting", async () => {
  const { queue } = setUp();
  const stop = new AbortController();
  const waiting = queue.take(stop.signal);
  stop.abort(new Error("stopping"));
  await expect(waiting).rejects.toThrow("stopping");
  await expect(queue.take(stop.signal)).rejects.toThrow("stopping");
  queue.add("a");
  expect(await queue.take()).toBe("a");
});

test("ignores a key that is reported done without having been taken", async () => {
  const { queue } = setUp();
  queue.add("a");
  queue.done("a");
  expect(queue.length).toBe(1);
});

test("keeps a delay within its bounds, however often a key failed", () => {
  const bounds = { initialMs: 10, maxMs: 1_000 };
  fc.assert(
    fc.property(fc.nat(5_000), fc.integer(), (failures, seed) => {
      const delay = backoffDelay(failures, bounds, seededRandom(seed));
      const full = Math.min(1_000, 10 * 2 ** failures);
      expect(delay).toBeGreaterThan(full / 2 - 1e-9);
      expect(delay).toBeLessThanOrEqual(full);
    }),
  );
});

interface Step {
  readonly do: "add" | "after" | "backOff" | "take" | "done" | "advance";
  readonly key: string;
  readonly ms: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("add", "after", "backOff", "take", "done", "advance"),
  key: fc.constantFrom("a", "b", "c", "d"),
  ms: fc.integer({ min: 1, max: 4_000 }),
});

test("never gives a key to two workers, never loses one, never gives one out before its time or unasked", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const { clock, queue } = setUp({ initialMs: 100, maxMs: 4_000 });
      // The model: what is to be processed, what will be and when, and what the workers have.
      const wanted = new Set<string>();
      const later = new Map<string, number>();
      const held: string[] = [];
      const wantLater = (key: string, ms: number) =>
        later.set(key, Math.min(later.get(key) ?? Infinity, clock.monotonicMs() + ms));
      const act: Readonly<Record<Step["do"], (each: Step) => unknown>> = {
        add: ({ key }) => {
          queue.add(key);
          wanted.add(key);
        },
        after: ({ key, ms }) => {
          queue.addAfter(key, ms);
          wantLater(key, ms);
        },
        backOff: ({ key }) => wantLater(key, queue.addWithBackoff(key)),
        advance: ({ ms }) => clock.advance(ms),
        take: async () => {
          if (queue.length === 0) return;
          const taken = (await queue.take()) ?? "";
          expect(held).not.toContain(taken);
          held.push(taken);
          wanted.delete(taken);
        },
        done: ({ ms }) => held.splice(ms % 4, 1).forEach((key) => queue.done(key)),
      };
      for (const each of steps) {
        await act[each.do](each);
        for (const [key, at] of later) {
          if (at > clock.monotonicMs()) continue;
          later.delete(key);
          wanted.add(key);
        }
        expect(queue.counts()).toMatchObject({
          ready: [...wanted].filter((key) => !held.includes(key)).length,
          processing: held.length,
          delayed: later.size,
        });
      }
      // In the end everything that was asked for comes out, and nothing else.
      for (const key of held.splice(0)) queue.done(key);
      await clock.advance(10_000);
      const rest: string[] = [];
      while (queue.length > 0) rest.push((await queue.take()) ?? "");
      expect(rest.toSorted(byText)).toEqual([...new Set([...wanted, ...later.keys()])].toSorted(byText));
      for (const key of rest) queue.done(key);
      await queue.shutDown();
    }),
  );
});

test("gives out changes before routine work, without holding either back for ever", () => {
  const arrivals = fc.array(fc.record({ key: fc.nat(40), isChange: fc.boolean() }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 0, max: 3 }), (steps, takesPerStep) => {
      const line = createReadyLine();
      // The model: two plain lists.
      const model: Record<Priority, string[]> = { change: [], routine: [] };
      let routineHeldBack = 0;
      let changeHeldBack = 0;
      const take = () => {
        const hadRoutine = model.routine.length > 0;
        const hadChange = model.change.length > 0;
        const key = line.next();
        const level = key === model.change[0] ? "change" : "routine";
        expect(key).toBe(model[level].shift());
        routineHeldBack = level === "change" && hadRoutine ? routineHeldBack + 1 : 0;
        changeHeldBack = level === "routine" && hadChange ? changeHeldBack + 1 : 0;
        expect(routineHeldBack).toBeLessThanOrEqual(changesInARow);
        expect(changeHeldBack).toBeLessThanOrEqual(1);
      };
      for (const { key, isChange } of steps) {
        const name = String(key);
        line.add(name, isChange ? "change" : "routine");
        if (isChange && !model.change.includes(name)) {
          model.routine = model.routine.filter((other) => other !== name);
          model.change.push(name);
        } else if (!isChange && !model.change.includes(name) && !model.routine.includes(name)) model.routine.push(name);
        for (let taken = 0; taken < takesPerStep; taken++) take();
        expect(line.size).toBe(model.change.length + model.routine.length);
      }
      while (line.size > 0) take();
      expect(model).toEqual({ change: [], routine: [] });
    }),
  );
});

test("lets a user's change overtake a thousand keys of a resync", async () => {
  const { queue } = setUp();
  for (let i = 0; i < 1_000; i++) queue.add(`resync-${i}`, "routine");
  queue.add("resync-999");
  queue.add("changed");
  expect([await queue.take(), await queue.take()]).toEqual(["resync-999", "changed"]);
  expect(await queue.take()).toBe("resync-0");
  expect(queue.counts()).toMatchObject({ ready: 998, readyRoutine: 998 });
});

test("keeps the higher priority of a key that is asked for again while a worker has it", async () => {
  const { queue } = setUp();
  queue.add("a");
  await queue.take();
  queue.add("b", "routine");
  queue.add("a", "routine");
  queue.add("a");
  queue.done("a");
  expect(await queue.take()).toBe("a");
});

test("measures how long keys wait and are worked on, and which is the oldest of each", async () => {
  const clock = createVirtualClock();
  const waits: number[] = [];
  const works: number[] = [];
  const observer = { waited: (ms: number) => waits.push(ms), worked: (ms: number) => works.push(ms) };
  const queue = createQueue({ clock, random: seededRandom(1), observer });
  queue.add("a");
  await clock.advance(100);
  queue.add("b");
  await clock.advance(50);
  expect(queue.counts()).toMatchObject({ longestWaitMs: 150, longestWorkMs: 0 });
  await queue.take();
  await clock.advance(30);
  expect(queue.counts()).toMatchObject({ longestWaitMs: 80, longestWorkMs: 30 });
  queue.done("a");
  await queue.take();
  expect(waits).toEqual([150, 80]);
  expect(works).toEqual([30]);
  expect(queue.counts()).toMatchObject({ taken: 2, finished: 1, waitedMs: 230, workedMs: 30, retries: 0 });
});

function byText(a: string, b: string): number {
  return a.localeCompare(b);
}
