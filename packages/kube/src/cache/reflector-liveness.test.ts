import { createVirtualClock } from "@millwright/base/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ApiClient } from "../client/api-client.ts";
import type { Transport } from "../client/transport.ts";
import { defaultInactivityMs, openWatch } from "../client/watch.ts";
import type { WatchEvent } from "../client/watch.ts";
import { added, bookmark, broken, gone, node, page, scripted, start } from "../testing/scripted-api.ts";

test("replaces a watch on which nothing arrives within 60 s, without a list and without a pause (half-open connection)", async () => {
  const clock = createVirtualClock();
  const opened: { readonly path: string; readonly atMs: number }[] = [];
  const transport: Pick<Transport, "stream"> = {
    async stream({ path }) {
      opened.push({ path, atMs: clock.monotonicMs() });
      const closed = Promise.withResolvers<never>();
      async function* chunks(): AsyncGenerator<Uint8Array> {
        if (opened.length === 1) yield Buffer.from(`${JSON.stringify(added("a", 7))}\n`);
        await closed.promise;
      }
      return { chunks: chunks(), close: () => closed.reject(new Error("closed")) };
    },
  };
  const script = scripted([page([], 5)], []);
  script.existing.set("a", 7);
  const run = start(
    {
      ...script,
      api: {
        ...script.api,
        watch: (_, { resourceVersion, onAnswer }, signal) =>
          openWatch({
            transport,
            path: `/nodes?rv=${resourceVersion}`,
            clock,
            inactivityMs: defaultInactivityMs,
            onAnswer,
            signal,
          }),
      },
    },
    { clock },
  );
  await clock.advance(60_000);
  expect(opened.map(({ path }) => path)).toEqual(["/nodes?rv=5", "/nodes?rv=7"]);
  expect(opened[1]?.atMs).toBeLessThanOrEqual(55_000);
  expect(run.reflector.counts()).toMatchObject({ lists: 1, silences: 1, failures: 0 });
  // Since the new watch.
  expect(run.reflector.silentForMs()).toBe(60_000 - (opened[1]?.atMs ?? 0));
  expect(run.reflector.listedForMs()).toBe(60_000);
  await run.end();
});

test("asks for a new watch within 60 s of the last sign of life, whenever that came and however late timers are", async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: defaultInactivityMs - 1 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.integer({ min: 0, max: 5_000 }), async (pauses, lateMs) => {
      const clock = createVirtualClock();
      // A process that has much to do, or a machine that has: timers fire late.
      const late = { ...clock, setTimer: (ms: number, fire: () => void) => clock.setTimer(ms + lateMs, fire) };
      const opened: number[] = [];
      let lastMs = 0;
      const transport: Pick<Transport, "stream"> = {
        async stream() {
          opened.push(clock.monotonicMs());
          const closed = Promise.withResolvers<never>();
          closed.promise.catch(() => {});
          async function* chunks(): AsyncGenerator<Uint8Array> {
            for (const [index, pause] of opened.length === 1 ? pauses.entries() : []) {
              await Promise.race([clock.sleep(pause), closed.promise]);
              lastMs = clock.monotonicMs();
              yield Buffer.from(`${JSON.stringify(bookmark(10 + index))}\n`);
            }
            await closed.promise;
          }
          return { chunks: chunks(), close: () => closed.reject(new Error("closed")) };
        },
      };
      const script = scripted([page([node("a", 1)], 5)], []);
      const watch: ApiClient["watch"] = (_, { inactivityMs = defaultInactivityMs, onAnswer }, signal) =>
        openWatch({ transport, path: "/nodes", clock: late, inactivityMs, onAnswer, signal });
      const run = start({ ...script, api: { ...script.api, watch } }, { clock });
      await clock.advance(pauses.reduce((sum, pause) => sum + pause, 60_000));
      expect((opened[1] ?? Infinity) - lastMs).toBeLessThanOrEqual(60_000);
      expect((opened[1] ?? 0) - lastMs).toBeGreaterThanOrEqual(defaultInactivityMs);
      expect(run.listed).toHaveLength(1);
      await run.end();
    }),
    { numRuns: 50 },
  );
});

test("lives on bookmarks for an hour without a list", async () => {
  const clock = createVirtualClock();
  const { api, listed } = scripted([page([node("a", 1)], 5)], []);
  async function* bookmarks(signal: AbortSignal): AsyncGenerator<WatchEvent> {
    for (;;) {
      await clock.sleep(45_000, signal);
      yield bookmark(5 + clock.monotonicMs());
    }
  }
  const run = start({ ...scripted([], []), api: { ...api, watch: (_, __, signal) => bookmarks(signal) } }, { clock });
  await clock.advance(3_600_000);
  expect(listed).toHaveLength(1);
  expect(run.reflector.resourceVersion()).toBe(String(5 + 3_600_000));
  await run.end();
});

test("calls subscribers with every object again, as (same, same), after each resync period", async () => {
  const run = start(scripted([page([node("a", 1), node("b", 2)], 5)], []), { resyncMs: 60_000 });
  await run.reflector.synced();
  const seen: (readonly [string | undefined, boolean])[] = [];
  run.store.subscribe((old, current) => seen.push([old?.metadata.name, old === current]), { replay: false });
  await run.clock.advance(59_000);
  expect(seen).toEqual([]);
  await run.clock.advance(8_000);
  expect(seen).toEqual([
    ["a", true],
    ["b", true],
  ]);
  await run.end();
  expect(run.clock.pending()).toBe(0);
});

test("lets a writer wait until the cache has seen its write, by an event, a bookmark or a list", async () => {
  const run = start(scripted([page([], 5), page([], 3)], [[added("a", 7), bookmark(20), broken()], [gone()]]));
  const reached: string[] = [];
  const wait = (version: string) => void run.reflector.reached(version).then(() => reached.push(version));
  for (const version of ["5", "6", "15", "999"]) wait(version);
  await run.clock.advance(0);
  expect(reached).toEqual(["5", "6", "15"]);
  const stop = new AbortController();
  const late = run.reflector.reached("1000", stop.signal);
  stop.abort(new Error("too late"));
  await expect(late).rejects.toThrow("too late");
  // The server was restored from a backup: the awaited version will never come, as the new list shows.
  await run.clock.advance(5_000);
  expect(reached).toEqual(["5", "6", "15", "999"]);
  await run.end();
});
