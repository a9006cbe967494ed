import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { nodeResource } from "../objects/built-in-resources.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createInformer } from "./informer.ts";
import { waitForCache } from "./wait-for-cache.ts";

test("waits until the cache has seen a write, and returns false when it has not in time", async () => {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const stop = new AbortController();
  const cache = createInformer({ api, type: nodeResource, clock, random: seededRandom(1) });
  const running = cache.run(stop.signal);
  await cache.synced();
  const written = await api.create(nodeResource, { metadata: { name: "a" } });
  expect(cache.store.get("a")).toBeUndefined();
  expect(await waitForCache({ cache, written, clock })).toBe(true);
  expect(cache.store.get("a")).toBeDefined();

  const tooMuch = waitForCache({ cache, written: "1000000", clock, timeoutMs: 100 });
  await clock.advance(100);
  expect(await tooMuch).toBe(false);
  const stopping = waitForCache({ cache, written: "1000000", clock, signal: stop.signal });
  stop.abort(new Error("stopping"));
  await expect(stopping).rejects.toThrow("stopping");
  expect(await waitForCache({ cache, written: { metadata: {} }, clock })).toBe(true);
  await running;
  expect(clock.pending()).toBe(0);
});
