import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { describe, expect, it } from "vitest";
import { createInformer } from "../cache/informer.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { createConnectivityRecord } from "./connectivity.ts";

it("is lost from the start until the first response, and from a failure until the next", async () => {
  const clock = createVirtualClock();
  const connectivity = createConnectivityRecord(clock);
  const heard: number[] = [];
  connectivity.onRegained((lostForMs) => heard.push(lostForMs));
  await clock.advance(5_000);
  expect(connectivity.lostForMs()).toBe(5_000);
  connectivity.answered();
  expect(connectivity.lostForMs()).toBe(0);
  await clock.advance(60_000);
  connectivity.answered();
  expect(connectivity.lostForMs()).toBe(0);
  connectivity.failed(clock.monotonicMs());
  await clock.advance(1_000);
  connectivity.failed(clock.monotonicMs());
  await clock.advance(1_000);
  expect(connectivity.lostForMs()).toBe(2_000);
  connectivity.answered();
  expect(heard).toEqual([5_000, 2_000]);
});

it("counts an attempt without a response from its start", async () => {
  const clock = createVirtualClock();
  const connectivity = createConnectivityRecord(clock);
  connectivity.answered();
  const began = clock.monotonicMs();
  await clock.advance(50_000);
  connectivity.failed(began);
  expect(connectivity.lostForMs()).toBe(50_000);
});

it("calls no listener that has ended", () => {
  const connectivity = createConnectivityRecord(createVirtualClock());
  const heard: number[] = [];
  connectivity.onRegained((lostForMs) => heard.push(lostForMs))();
  connectivity.answered();
  expect(heard).toEqual([]);
});

it("reports a lasting loss once, and the next one again", async () => {
  const clock = createVirtualClock();
  const connectivity = createConnectivityRecord(clock);
  let losses = 0;
  const end = connectivity.onLost(30_000, () => losses++);
  await clock.advance(30_000);
  expect(losses).toBe(0);
  await clock.advance(60_000);
  expect(losses).toBe(1);
  connectivity.answered();
  connectivity.failed(clock.monotonicMs());
  await clock.advance(20_000);
  connectivity.answered();
  await clock.advance(20_000);
  expect(losses).toBe(1);
  connectivity.failed(clock.monotonicMs() - 29_000);
  await clock.advance(1_001);
  expect(losses).toBe(2);
  connectivity.answered();
  connectivity.failed(clock.monotonicMs());
  end();
  await clock.advance(60_000);
  expect(losses).toBe(2);
});

it("leaves no timer after the end of the attempts", async () => {
  const clock = createVirtualClock();
  const connectivity = createConnectivityRecord(clock);
  let losses = 0;
  connectivity.onLost(30_000, () => losses++);
  connectivity.ended();
  await clock.advance(60_000);
  expect(losses).toBe(0);
});

describe("the connectivity of a cache", () => {
  function start() {
    const clock = createVirtualClock();
    const api = createFakeApi({ clock });
    api.seed(nodeResource, { metadata: { name: "a" } });
    const informer = createInformer({ api, type: nodeResource, clock, random: seededRandom(1) });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort(new Error("done"));
      await running;
    };
    return { clock, api, connectivity: informer.connectivity, end };
  }

  it("is kept while nothing happens", async () => {
    const { clock, connectivity, end } = start();
    await clock.advance(3_600_000);
    expect(connectivity.lostForMs()).toBe(0);
    await end();
  });

  it("is lost while watches fail, and regained as soon as one is answered, even without events", async () => {
    const { clock, api, connectivity, end } = start();
    await clock.advance(1_000);
    const lost: number[] = [];
    connectivity.onRegained((lostForMs) => lost.push(lostForMs));
    api.inject({
      verb: "watch",
      error: new ApiError({ status: 0, reason: "Unreachable", message: "reset" }),
      times: 8,
    });
    api.endWatches();
    await clock.advance(30_000);
    expect(connectivity.lostForMs()).toBeGreaterThan(29_000);
    await clock.advance(3_600_000);
    expect(connectivity.lostForMs()).toBe(0);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toBeGreaterThan(30_000);
    await end();
  });

  it("is lost while the server accepts connections and does not respond", async () => {
    const clock = createVirtualClock();
    const api = createFakeApi({ clock });
    api.seed(nodeResource, { metadata: { name: "a" } });
    let isMute = false;
    const silent: ApiClient["watch"] = async function* (type, options, signal) {
      if (!isMute) return yield* api.watch(type, options, signal);
      await clock.sleep(50_000, signal);
      throw new ApiError({ status: 0, reason: "WatchSilent", message: "nothing" });
    };
    const informer = createInformer({
      api: { ...api, watch: silent },
      type: nodeResource,
      clock,
      random: seededRandom(1),
    });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await clock.advance(1_000);
    isMute = true;
    api.endWatches();
    await clock.advance(120_000);
    expect(informer.connectivity.lostForMs()).toBeGreaterThan(100_000);
    stop.abort(new Error("done"));
    await running;
  });
});
