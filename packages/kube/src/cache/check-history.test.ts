import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { ApiError } from "../client/api-error.ts";
import { createServerHistory, type RewindEvidence } from "../client/server-history.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { page } from "../testing/scripted-api.ts";
import { checkHistory } from "./check-history.ts";

/** A check of a server at some version, beside a cache that is at another. */
function start(server: { version: number; readonly meanwhile?: () => void }) {
  const clock = createVirtualClock();
  const history = createServerHistory(clock);
  const cache = { version: "20" as string | undefined, isCurrent: true };
  const run = { clock, history, cache, lists: [] as unknown[], found: [] as RewindEvidence[] };
  history.onRewind((evidence) => run.found.push(evidence));
  const stop = new AbortController();
  const api = {
    history,
    async list(_: unknown, options: unknown) {
      run.lists.push(options);
      server.meanwhile?.();
      await Promise.resolve();
      if (server.version < 0) throw new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
      return page([], server.version);
    },
  };
  const ended = checkHistory(
    {
      api: api as never,
      type: nodeResource,
      cache: { resourceVersion: () => cache.version, isCurrent: () => cache.isCurrent },
      clock,
    },
    stop.signal,
  );
  const end = async () => {
    stop.abort(new Error("done"));
    await ended;
  };
  return { ...run, end };
}

test("finds within a minute that a server without events went back", async () => {
  const server = { version: 20 };
  const { clock, found, cache, history, end } = start(server);
  await clock.advance(100_000);
  expect(found).toEqual([]);
  cache.version = "25";
  await clock.advance(1_000);
  server.version = 12;
  await clock.advance(59_000);
  expect(found).toEqual([{ resource: "nodes", found: "a list at version 12 after version 25" }]);
  expect(history.epoch()).toBe(1);
  await end();
});

test("lists one object in 25 seconds without events, and none while there are events", async () => {
  const { clock, lists, cache, end } = start({ version: 1_000 });
  for (let round = 0; round < 10; round++) {
    cache.version = String(21 + round);
    await clock.advance(25_000);
  }
  expect(lists).toEqual([]);
  await clock.advance(100_000);
  expect(lists).toEqual(Array.from({ length: 4 }, () => ({ limit: 1, metadataOnly: true })));
  await end();
});

test("compares nothing while the cache is listed again, and goes on after a request that failed", async () => {
  const server = { version: -1 };
  const { clock, lists, cache, found, end } = start(server);
  await clock.advance(60_000);
  expect(lists).toHaveLength(2);
  server.version = 12;
  cache.isCurrent = false;
  await clock.advance(60_000);
  expect([lists.length, found.length]).toEqual([2, 0]);
  cache.isCurrent = true;
  cache.version = undefined;
  await clock.advance(60_000);
  expect([lists.length, found.length]).toEqual([2, 0]);
  cache.version = "20";
  await clock.advance(60_000);
  expect(found.length).toBeGreaterThan(0);
  await end();
});

test("does not report what another request found meanwhile", async () => {
  const meanwhile = () => {
    cache.isCurrent = false;
    history.report({ resource: "pods", found: "an older event" });
  };
  const { clock, history, cache, found, end } = start({ version: 12, meanwhile });
  await clock.advance(25_000);
  expect(found.map(({ resource }) => resource)).toEqual(["pods"]);
  await end();
});
