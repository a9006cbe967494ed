import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { describe, expect, it } from "vitest";
import type { ApiClient } from "../client/api-client.ts";
import { ApiError } from "../client/api-error.ts";
import { createConnectivityRecord } from "../client/connectivity.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createInformer } from "./informer.ts";
import { sleepUntilReachable } from "./sleep-until-reachable.ts";

describe("the sleep after an unreachable server", () => {
  function fallAsleep(ms: number) {
    const clock = createVirtualClock();
    const connectivity = createConnectivityRecord(clock);
    const stop = new AbortController();
    const slept: { isBack?: boolean; afterMs?: number } = {};
    void sleepUntilReachable({ ms, connectivity, clock, random: seededRandom(1), signal: stop.signal }).then(
      (isBack) => {
        slept.isBack = isBack;
        slept.afterMs = clock.monotonicMs();
        return slept;
      },
    );
    return { clock, connectivity, stop, slept };
  }

  it("lasts its full time while the server stays unreachable", async () => {
    const { clock, slept } = fallAsleep(15_000);
    await clock.advance(20_000);
    expect(slept).toEqual({ isBack: false, afterMs: 15_000 });
    expect(clock.pending()).toBe(0);
  });

  it("ends within two seconds after the server is reachable again, and leaves nothing running", async () => {
    const { clock, connectivity, slept } = fallAsleep(15_000);
    await clock.advance(3_000);
    connectivity.answered();
    await clock.advance(2_000);
    expect(slept.isBack).toBe(true);
    expect(slept.afterMs).toBeGreaterThan(3_000);
    expect(clock.pending()).toBe(0);
  });

  it("lasts no longer when the server is reachable again at its end", async () => {
    const { clock, connectivity, slept } = fallAsleep(1_000);
    await clock.advance(999);
    connectivity.answered();
    await clock.advance(1);
    expect(slept).toEqual({ isBack: true, afterMs: 1_000 });
    expect(clock.pending()).toBe(0);
  });

  it("ends at once when aborted", async () => {
    const { clock, stop, slept } = fallAsleep(15_000);
    await clock.advance(1_000);
    stop.abort(new Error("stop"));
    await clock.advance(0);
    expect(slept).toEqual({ isBack: false, afterMs: 1_000 });
    expect(clock.pending()).toBe(0);
  });
});

describe("the caches of one client after an outage", () => {
  /** As many as a manager has of both clusters. */
  const caches = 8;

  function start(seed: number) {
    const clock = createVirtualClock();
    const connectivity = createConnectivityRecord(clock);
    const fake = createFakeApi({ clock });
    let failure: ApiError | undefined;
    const attempts: number[] = [];
    const check = (): void => {
      attempts.push(clock.monotonicMs());
      if (failure?.reason === "Unreachable") connectivity.failed(clock.monotonicMs());
      else connectivity.answered();
      if (failure !== undefined) throw failure;
    };
    const api: ApiClient = {
      ...fake,
      connectivity,
      list: async (...args) => {
        check();
        return fake.list(...args);
      },
      async *watch(...args) {
        check();
        yield* fake.watch(...args);
      },
    };
    const random = seededRandom(seed);
    const all = Array.from({ length: caches }, () => createInformer({ api, type: nodeResource, clock, random }));
    const stop = new AbortController();
    const running = Promise.all(all.map((cache) => cache.run(stop.signal)));
    return {
      clock,
      attempts,
      /** Other requests of the client fail and are answered, so often. */
      flap: async (everyMs: number, times: number) => {
        for (let i = 0; i < times; i++) {
          connectivity.failed(clock.monotonicMs());
          await clock.advance(everyMs / 2);
          connectivity.answered();
          await clock.advance(everyMs / 2);
        }
      },
      begin: (error: ApiError) => {
        failure = error;
        attempts.length = 0;
        fake.endWatches();
      },
      end: () => {
        failure = undefined;
        attempts.length = 0;
      },
      without: () => all.filter((cache) => cache.connectivity.lostForMs() > 0).length,
      stop: async () => {
        stop.abort(new Error("done"));
        await running;
      },
    };
  }

  const unreachable = new ApiError({ status: 0, reason: "Unreachable", message: "connect ECONNREFUSED" });

  it("are up to date within 15 s, soon after the first of them, but do not come all at once", async () => {
    const tookMs: number[] = [];
    for (let seed = 0; seed < 20; seed++) {
      const run = start(seed);
      await run.clock.advance(10_000);
      run.begin(unreachable);
      await run.clock.advance(600_000);
      // Every delay but the first few is 7.5 s at the least.
      expect(run.attempts.length).toBeLessThan(caches * 90);
      run.end();
      const backMs = run.clock.monotonicMs();
      while (run.without() > 0) await run.clock.advance(100);
      const all = run.clock.monotonicMs() - backMs;
      tookMs.push(all);
      const [first = 0] = run.attempts;
      expect(all - (first - backMs)).toBeLessThanOrEqual(2_100);
      // At most half of them within any fifth of a second, each with two requests: one verifies the server's version, one watches.
      for (const at of run.attempts) {
        expect(run.attempts.filter((other) => other >= at && other < at + 200).length).toBeLessThanOrEqual(caches);
      }
      await run.stop();
    }
    tookMs.sort((a, b) => a - b);
    expect(tookMs.at(-1)).toBeLessThan(15_000);
    expect(tookMs[tookMs.length / 2]).toBeLessThan(5_000);
  });

  it("keep their backoff when the server rejected them, even if other requests are answered", async () => {
    const run = start(1);
    await run.clock.advance(10_000);
    run.begin(new ApiError({ status: 403, reason: "Forbidden", message: "no" }));
    await run.flap(2_000, 300);
    expect(run.attempts.length).toBeLessThan(caches * 90);
    await run.stop();
  });

  it("send no more than about one request a second each when the server flaps", async () => {
    const run = start(1);
    await run.clock.advance(10_000);
    run.begin(unreachable);
    await run.flap(100, 3_000);
    expect(run.attempts.length).toBeLessThan(caches * 300 * 1.2);
    await run.stop();
  });
});
