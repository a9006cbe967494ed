import { seededRandom } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createInformer } from "../cache/informer.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { createContactRecord } from "./contact.ts";

it("is lost from the start until the first answer, and from a failure until the next", async () => {
  const clock = createVirtualClock();
  const contact = createContactRecord(clock);
  const heard: number[] = [];
  contact.onRegained((lostForMs) => heard.push(lostForMs));
  await clock.advance(5_000);
  expect(contact.lostForMs()).toBe(5_000);
  contact.answered();
  expect(contact.lostForMs()).toBe(0);
  await clock.advance(60_000);
  contact.answered();
  expect(contact.lostForMs()).toBe(0);
  contact.failed(clock.monotonicMs());
  await clock.advance(1_000);
  contact.failed(clock.monotonicMs());
  await clock.advance(1_000);
  expect(contact.lostForMs()).toBe(2_000);
  contact.answered();
  expect(heard).toEqual([5_000, 2_000]);
});

it("counts an attempt that got no answer from its beginning", async () => {
  const clock = createVirtualClock();
  const contact = createContactRecord(clock);
  contact.answered();
  const began = clock.monotonicMs();
  await clock.advance(50_000);
  contact.failed(began);
  expect(contact.lostForMs()).toBe(50_000);
});

it("tells nobody who has ended listening", () => {
  const contact = createContactRecord(createVirtualClock());
  const heard: number[] = [];
  contact.onRegained((lostForMs) => heard.push(lostForMs))();
  contact.answered();
  expect(heard).toEqual([]);
});

it("tells of a loss that lasts, once, and of the next one anew", async () => {
  const clock = createVirtualClock();
  const contact = createContactRecord(clock);
  let told = 0;
  const end = contact.onLost(30_000, () => told++);
  await clock.advance(30_000);
  expect(told).toBe(0);
  await clock.advance(60_000);
  expect(told).toBe(1);
  contact.answered();
  contact.failed(clock.monotonicMs());
  await clock.advance(20_000);
  contact.answered();
  await clock.advance(20_000);
  expect(told).toBe(1);
  contact.failed(clock.monotonicMs() - 29_000);
  await clock.advance(1_001);
  expect(told).toBe(2);
  contact.answered();
  contact.failed(clock.monotonicMs());
  end();
  await clock.advance(60_000);
  expect(told).toBe(2);
});

it("leaves no timer when nobody tries any more", async () => {
  const clock = createVirtualClock();
  const contact = createContactRecord(clock);
  let told = 0;
  contact.onLost(30_000, () => told++);
  contact.ended();
  await clock.advance(60_000);
  expect(told).toBe(0);
});

describe("the contact of a cache", () => {
  function start() {
    const clock = createVirtualClock();
    const api = createFakeApi({ clock });
    const informer = createInformer({ api, type: nodeResource, clock, random: seededRandom(1) });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort(new Error("done"));
      await running;
    };
    return { clock, api, contact: informer.contact, end };
  }

  it("is there while nothing happens", async () => {
    const { clock, contact, end } = start();
    await clock.advance(3_600_000);
    expect(contact.lostForMs()).toBe(0);
    await end();
  });

  it("is lost while watches fail, and back as soon as one is answered, however quiet", async () => {
    const { clock, api, contact, end } = start();
    await clock.advance(1_000);
    const lost: number[] = [];
    contact.onRegained((lostForMs) => lost.push(lostForMs));
    api.inject({
      verb: "watch",
      error: new ApiError({ status: 0, reason: "Unreachable", message: "reset" }),
      times: 8,
    });
    api.endWatches();
    await clock.advance(30_000);
    expect(contact.lostForMs()).toBeGreaterThan(29_000);
    await clock.advance(3_600_000);
    expect(contact.lostForMs()).toBe(0);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toBeGreaterThan(30_000);
    await end();
  });

  it("is lost while the server takes connections and says nothing", async () => {
    const clock = createVirtualClock();
    const api = createFakeApi({ clock });
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
    expect(informer.contact.lostForMs()).toBeGreaterThan(100_000);
    stop.abort(new Error("done"));
    await running;
  });
});
