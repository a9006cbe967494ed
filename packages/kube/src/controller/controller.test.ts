import { seededRandom, systemClock } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test, vi } from "vitest";
import { createStore } from "../cache/store.ts";
import { ApiError } from "../client/api-error.ts";
import type { Log } from "../log.ts";
import { keyOf } from "../objects/kube-object.ts";
import { podResource } from "../objects/built-in-resources.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { conflictError, tooManyRequestsError } from "../testing/errors.ts";
import { createController, done } from "./controller.ts";
import { createRefusedWrites } from "./refused-writes.ts";
import type { ControllerOptions, Reconcile, ReconcileResult } from "./controller.ts";
import { watchTriggers } from "./watch-triggers.ts";

function setUp(reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const log = vi.fn<Log>();
  const controller = createController({
    name: "test",
    reconcile,
    clock,
    random: seededRandom(1),
    log,
    ...options,
  });
  const running = controller.start(stop.signal);
  const end = async () => {
    stop.abort(new Error("done"));
    await running;
  };
  return { clock, controller, log, stop, running, end };
}

test("works on each key that is enqueued, and on none of them twice at once", async () => {
  const active = new Set<string>();
  const passes: string[] = [];
  const run = setUp(async (key) => {
    expect(active).not.toContain(key);
    active.add(key);
    await run.clock.sleep(100);
    active.delete(key);
    passes.push(key);
    return done;
  });
  await run.clock.advance(0);
  for (const key of ["a", "b", "a"]) run.controller.enqueue(key);
  await run.clock.advance(50);
  run.controller.enqueue("a");
  expect([...active]).toEqual(["a", "b"]);
  await run.clock.advance(1_000);
  expect(passes).toEqual(["a", "b", "a"]);
  await run.end();
});

test("works on as many keys at once as it has workers", async () => {
  let active = 0;
  let most = 0;
  const reconcile: Reconcile = async () => {
    most = Math.max(most, ++active);
    await run.clock.sleep(10);
    active--;
    return done;
  };
  const run = setUp(reconcile, { workers: 3 });
  for (let i = 0; i < 20; i++) run.controller.enqueue(String(i));
  await run.clock.advance(1_000);
  expect(most).toBe(3);
  expect(run.controller.counts().reconciles).toBe(20);
  await run.end();
});

test("looks again after the time that a pass asked for", async () => {
  const times: number[] = [];
  const run = setUp(async () => {
    times.push(run.clock.monotonicMs());
    return { requeueAfterMs: 30_000 };
  });
  const started = run.clock.monotonicMs();
  run.controller.enqueue("a");
  await run.clock.advance(61_000);
  expect(times.map((time) => time - started)).toEqual([0, 30_000, 60_000]);
  await run.end();
});

test("repeats a failed pass with growing delays, logs it with a constant message, and starts small after a success", async () => {
  let failing = true;
  const run = setUp(async () => {
    if (failing) throw new Error("no such class");
    return done;
  });
  run.controller.enqueue("a");
  await run.clock.advance(60_000);
  expect(run.controller.counts().failures).toBeGreaterThan(4);
  expect(run.controller.counts().failures).toBeLessThan(12);
  for (const [level, message, fields] of run.log.mock.calls) {
    expect([level, message]).toEqual(["error", "Reconcile failed"]);
    expect(fields).toMatchObject({ controller: "test", name: "a", error: "no such class" });
  }
  failing = false;
  await run.clock.advance(300_000);
  expect(run.controller.queue.failures("a")).toBe(0);
  await run.end();
});

test("does not retry before the time that a busy server requested", async () => {
  const times: number[] = [];
  const run = setUp(async () => {
    times.push(run.clock.monotonicMs());
    if (times.length === 1) throw tooManyRequestsError({ retryAfterMs: 20_000 });
    return done;
  });
  run.controller.enqueue("a");
  await run.clock.advance(19_999);
  expect(times).toHaveLength(1);
  await run.clock.advance(1);
  expect(times).toHaveLength(2);
  await run.end();
});

test("waits for minutes at most, whatever the server requested", async () => {
  const times: number[] = [];
  const run = setUp(async () => {
    times.push(run.clock.monotonicMs());
    if (times.length === 1) throw tooManyRequestsError({ retryAfterMs: 86_400_000 });
    return done;
  });
  run.controller.enqueue("a");
  await run.clock.advance(299_999);
  expect(times).toHaveLength(1);
  await run.clock.advance(1);
  expect(times).toHaveLength(2);
  await run.end();
});

test("backs off when the server rejects its writes as invalid, and logs why", async () => {
  const invalid = new ApiError({ status: 422, reason: "Invalid", message: "status.phase: Unsupported value" });
  const run = setUp(async () => Promise.reject(invalid));
  run.controller.enqueue("a");
  await run.clock.advance(3_600_000);
  expect(run.controller.counts().reconciles).toBeGreaterThan(10);
  expect(run.controller.counts().reconciles).toBeLessThan(40);
  expect(run.log.mock.calls[0]?.[2]).toMatchObject({ error: "status.phase: Unsupported value" });
  await run.end();
});

test("is not alarmed by a conflict, only by one that lasts", async () => {
  const run = setUp(async () => Promise.reject(conflictError()));
  run.controller.enqueue("a");
  await run.clock.advance(60_000);
  const levels = run.log.mock.calls.map(([level]) => level);
  expect(levels.slice(0, 6)).toEqual(["debug", "debug", "debug", "debug", "debug", "error"]);
  await run.end();
});

test("backs off when a reconcile requests it, and when its result is invalid", async () => {
  const answers = [{ backOff: "cache is behind" }, { requeueAfterMs: Number.NaN }, done];
  const run = setUp(async () => answers.shift() ?? done);
  run.controller.enqueue("a");
  await run.clock.advance(10_000);
  expect(run.controller.counts()).toMatchObject({ reconciles: 3, failures: 2 });
  await run.end();
});

test("works on a key no more than so many times a second, and does not let it back off for that", async () => {
  const run = setUp(async () => ({ requeueAfterMs: 1 }), { maxReconcilesPerSecond: 5 });
  run.controller.enqueue("hot");
  // Five at once, and then one each 200 ms.
  await run.clock.advance(199);
  expect(run.controller.counts().reconciles).toBe(5);
  await run.clock.advance(800);
  expect(run.controller.counts().reconciles).toBe(9);
  expect(run.controller.counts().heldBack).toBeGreaterThan(0);
  expect(run.log).toHaveBeenCalledWith(
    "debug",
    "Reconcile is delayed because the key is reconciled too often",
    expect.objectContaining({ name: "hot" }),
  );
  await run.clock.advance(60_000);
  expect(run.controller.counts().reconciles).toBe(60 * 5 + 9);
  await run.end();
});

test("reacts to a change of a busy key after a tenth of a second, and not at the end of the second", async () => {
  const times: number[] = [];
  const run = setUp(async () => {
    times.push(run.clock.monotonicMs());
    return done;
  });
  // More changes than are reconciled, as from the machines of a set; then one more.
  for (let ms = 0; ms < 300; ms += 10) {
    run.controller.enqueue("busy");
    await run.clock.advance(10);
  }
  const changedMs = run.clock.monotonicMs();
  run.controller.enqueue("busy");
  await run.clock.advance(2_000);
  const reaction = times.find((ms) => ms >= changedMs) ?? Infinity;
  expect(reaction - changedMs).toBeLessThanOrEqual(100);
  await run.end();
});

test("ends a pass that takes too long through its signal", async () => {
  const run = setUp((_, signal) => run.clock.sleep(3_600_000, signal).then(() => done), { timeoutMs: 5_000 });
  run.controller.enqueue("a");
  await run.clock.advance(5_000);
  expect(run.log).toHaveBeenCalledWith(
    "warn",
    "Reconcile exceeded its deadline",
    expect.objectContaining({ name: "a" }),
  );
  expect(run.log).toHaveBeenCalledWith("error", "Reconcile failed", expect.objectContaining({ name: "a" }));
  await run.end();
});

test("resolves only when the pass under way has ended, and logs no error for it", async () => {
  const steps: string[] = [];
  const run = setUp(async (_, signal) => {
    await run.clock.sleep(1_000, signal).catch(() => {});
    await run.clock.sleep(10);
    steps.push("cleaned up");
    throw new Error("interrupted");
  });
  run.controller.enqueue("a");
  run.controller.enqueue("b");
  await run.clock.advance(10);
  run.stop.abort(new Error("done"));
  void run.running.then(() => steps.push("stopped"));
  await run.clock.advance(100);
  expect(steps).toEqual(["cleaned up", "cleaned up", "stopped"]);
  expect(run.log).not.toHaveBeenCalled();
  await expect(run.controller.start(run.stop.signal)).rejects.toThrow("already started");
});

test("starts work when the caches it waits for have synced", async () => {
  const cache = Promise.withResolvers<void>();
  const reconcile = vi.fn<Reconcile>(async () => done);
  const run = setUp(reconcile, { waitFor: [{ synced: () => cache.promise }] });
  run.controller.enqueue("a");
  await run.clock.advance(1_000);
  expect(reconcile).not.toHaveBeenCalled();
  cache.resolve();
  await run.clock.advance(0);
  expect(reconcile).toHaveBeenCalledOnce();
  await run.end();
});

const pod = (version: string, owner: string): KubeObject => ({
  metadata: { name: "p", resourceVersion: version },
  owner,
});

test("starts with the keys of all objects, and keeps none of those that were enqueued before", async () => {
  const reconciled: string[] = [];
  const clock = createVirtualClock();
  const stop = new AbortController();
  const all = new Set(["a", "b"]);
  const controller = createController({
    name: "test",
    allKeys: () => all,
    reconcile: async (key) => {
      reconciled.push(key);
      return done;
    },
    clock,
    random: seededRandom(1),
  });
  for (const key of ["deleted", "a"]) controller.enqueue(key);
  expect(controller.queue.counts()).toMatchObject({ ready: 0, adds: 0 });
  const running = controller.start(stop.signal);
  controller.enqueue("c");
  await clock.advance(0);
  expect(reconciled).toEqual(["a", "b", "c"]);
  stop.abort(new Error("done"));
  await running;
});

test("enqueues both owners when an object moves from one to the other", async () => {
  const keys: string[] = [];
  const run = setUp(async (key) => {
    keys.push(key);
    return done;
  });
  const store = createStore();
  const end = watchTriggers({
    store,
    controller: run.controller,
    keys: (object: KubeObject) => [String(object["owner"])],
    when: (_, current) => current === undefined || keyOf(current) === "p",
  });
  store.applyEvent(pod("1", "a"));
  await run.clock.advance(0);
  store.applyEvent(pod("2", "b"));
  await run.clock.advance(0);
  store.applyDeletion(pod("3", "b"));
  await run.clock.advance(0);
  end();
  store.applyEvent({ metadata: { name: "p", resourceVersion: "9", uid: "new" }, owner: "c" });
  await run.clock.advance(0);
  expect(keys).toEqual(["a", "a", "b", "b"]);
  await run.end();
});

test("shows which keys are in progress, and for how long", async () => {
  const release = Promise.withResolvers<void>();
  const run = setUp(
    async (key) => {
      if (key !== "a/c") await release.promise;
      return done;
    },
    { timeoutMs: 60_000 },
  );
  run.controller.enqueue("a/b");
  await run.clock.advance(500);
  for (const key of ["a/c", "a/d"]) run.controller.enqueue(key);
  await run.clock.advance(1_000);
  expect(run.controller.queue.inProgress()).toEqual([
    { key: "a/b", ms: 1_500 },
    { key: "a/d", ms: 1_000 },
  ]);
  expect(run.controller.timeoutMs).toBe(60_000);
  release.resolve();
  await run.end();
  expect(run.controller.queue.inProgress()).toEqual([]);
});

test("shows an observer how each reconcile ended and how long it took, in the words of controller-runtime", async () => {
  const results: Readonly<Record<string, () => ReconcileResult>> = {
    good: () => done,
    later: () => ({ requeueAfterMs: 3_600_000 }),
    waiting: () => ({ backOff: "not yet" }),
    bad: () => {
      throw new Error("broken");
    },
  };
  const run = setUp(async (key) => {
    await run.clock.sleep(40);
    return results[key]?.() ?? done;
  });
  const seen: string[] = [];
  run.controller.observe({
    waited: (ms) => seen.push(`waited ${ms}`),
    worked: (ms) => seen.push(`worked ${ms}`),
    reconciled: (outcome, ms) => seen.push(`${outcome} ${ms}`),
  });
  for (const key of Object.keys(results)) run.controller.enqueue(key);
  await run.clock.advance(50);
  expect(seen.toSorted()).toEqual([
    "error 40",
    "requeue 40",
    "requeue_after 40",
    "success 40",
    ...Array.from({ length: 4 }, () => "waited 0"),
    ...Array.from({ length: 4 }, () => "worked 40"),
  ]);
  await run.end();
});

test("spaces reconciles of an expensive key, loses none, and does not delay a cheap key", async () => {
  const times: [string, number][] = [];
  const run = setUp(
    async (key) => {
      times.push([key, run.clock.monotonicMs() - started]);
      return done;
    },
    { pace: { costOf: (key) => (key === "large" ? 100 : 1), costPerSecond: 100, freeCost: 1, maxDelayMs: 2_000 } },
  );
  const started = run.clock.monotonicMs();
  for (let ms = 0; ms < 300; ms += 100) {
    for (const key of ["large", "small"]) run.controller.enqueue(key);
    await run.clock.advance(100);
  }
  await run.clock.advance(10_000);
  expect(times).toEqual([
    ["large", 0],
    ["small", 0],
    ["small", 100],
    ["small", 200],
    ["large", 1_000],
  ]);
  await run.end();
});

test("lets the event loop run between reconciles that need no I/O", async () => {
  const keys = Array.from({ length: 40 }, (_, index) => `a/m${index}`);
  let reconciles = 0;
  const stop = new AbortController();
  const busy = (ms: number): void => {
    for (const endMs = systemClock.monotonicMs() + ms; systemClock.monotonicMs() < endMs;);
  };
  const controller = createController({
    name: "test",
    reconcile: async () => {
      reconciles++;
      busy(1);
      return done;
    },
    workers: 1,
    clock: systemClock,
    random: seededRandom(1),
  });
  for (const key of keys) controller.enqueue(key);
  const running = controller.start(stop.signal);
  const seen = new Set<number>();
  while (reconciles < keys.length) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.add(reconciles);
  }
  // At most five fit between two turns.
  expect(seen.size).toBeGreaterThanOrEqual(keys.length / 5);
  stop.abort();
  await running;
});

test("sends a refused write again when its pause ends, however many events come meanwhile", async () => {
  let isRefused = true;
  const sentAtMs: number[] = [];
  const reconcile: Reconcile = async (key) => {
    const ref = { name: key };
    await writes.send({ verb: "delete", type: podResource, ref }, async () => {
      sentAtMs.push(run.clock.monotonicMs());
      if (isRefused) throw new ApiError({ status: 422, reason: "Invalid", message: "refused" });
    });
    return done;
  };
  const run = setUp(reconcile);
  const writes = createRefusedWrites(run.clock);
  run.controller.enqueue("a");
  while (sentAtMs.length < 6) await run.clock.advance(1_000);
  isRefused = false;
  for (let event = 0; event < 12; event++) {
    run.controller.enqueue("a");
    await run.clock.advance(100);
  }
  expect(sentAtMs).toHaveLength(6);
  await run.clock.advance(10_000);
  expect(sentAtMs).toHaveLength(7);
  // Five refusals after the first one: 200 ms, doubled four times.
  expect((sentAtMs[6] ?? 0) - (sentAtMs[5] ?? 0)).toBe(3_200);
  expect(run.controller.counts().failures).toBe(6);
  await run.end();
});
