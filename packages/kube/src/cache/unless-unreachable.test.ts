import { createVirtualClock } from "@millwright/base/testing";
import { expect, it } from "vitest";
import { createConnectivityRecord } from "../client/connectivity.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";

it("waits for a slow list of a server that responds, and not for one of a server that has been unreachable for too long", async () => {
  const clock = createVirtualClock();
  const connectivity = createConnectivityRecord(clock);
  connectivity.answered();
  const list = Promise.withResolvers<void>();
  const results: boolean[] = [];
  void unlessUnreachable(list.promise, connectivity, 30_000).then((isDone) => results.push(isDone));
  await clock.advance(600_000);
  connectivity.failed(clock.monotonicMs());
  await clock.advance(30_000);
  expect(results).toEqual([]);
  await clock.advance(1);
  expect(results).toEqual([false]);
  // A loss that lasts already counts.
  expect(await Promise.all([unlessUnreachable(list.promise, connectivity, 10_000), clock.advance(1)])).toContain(false);
  list.resolve();
  await list.promise;
  expect(await unlessUnreachable(list.promise, connectivity, 60_000)).toBe(true);
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});

it("rejects with the error of what is awaited, and leaves no timer", async () => {
  const clock = createVirtualClock();
  const stopped = new Error("stopped");
  const wait = unlessUnreachable(Promise.reject(stopped), createConnectivityRecord(clock), 30_000);
  await expect(wait).rejects.toBe(stopped);
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});
