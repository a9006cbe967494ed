import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { takeLead } from "./take-lead.ts";

it("acts when it leads and all caches are renewed, and names those that are not every ten seconds", async () => {
  const clock = createVirtualClock();
  const [acquired, nodes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const logged: unknown[] = [];
  const renewed: string[] = [];
  const caches = {
    machines: { renew: async () => void renewed.push("machines") },
    nodes: { renew: () => nodes.promise },
  };
  const log = (level: string, _: string, fields: object = {}): void => void logged.push([level, fields]);
  let leads = false;
  const { signal } = new AbortController();
  const options = { clock, log, unreachableAfterMs: 30_000 };
  const leadership = { acquired: () => acquired.promise };
  void takeLead(leadership, { needed: caches, ofTarget: {} }, options, signal).then(() => (leads = true));
  await clock.advance(30_000);
  expect([renewed, logged]).toEqual([[], []]);
  acquired.resolve();
  await clock.advance(20_000);
  expect(logged).toEqual([
    ["warn", { kinds: ["nodes"] }],
    ["warn", { kinds: ["nodes"] }],
  ]);
  expect(leads).toBe(false);
  nodes.resolve();
  await clock.advance(60_000);
  expect([leads, logged.length]).toEqual([true, 2]);
});

it("does not wait for a target API server that is unreachable, and renews later what is not renewed", async () => {
  const clock = createVirtualClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  const lost: [number, () => void][] = [];
  const logged: unknown[] = [];
  let renewed = 0;
  const connectivity = {
    lostForMs: () => 0,
    onRegained: () => () => {},
    onLost(afterMs: number, listener: () => void) {
      lost.push([afterMs, listener]);
      return () => {};
    },
  };
  const ofTarget = { nodes: { renew: () => promise.then(() => void renewed++), connectivity } };
  const log = (level: string, message: string, fields: object = {}): void => void logged.push([level, message, fields]);
  const options = { clock, log, unreachableAfterMs: 30_000 };
  let leads = false;
  const { signal } = new AbortController();
  void takeLead({ acquired: async () => {} }, { needed: {}, ofTarget }, options, signal).then(() => (leads = true));
  await clock.advance(600_000);
  expect([leads, lost.map(([afterMs]) => afterMs)]).toEqual([false, [30_000]]);
  for (const [, listener] of lost) listener();
  await clock.advance(0);
  expect(leads).toBe(true);
  expect(logged.at(-1)).toEqual([
    "warn",
    "Leading without a new list of some kinds: the target API server is unreachable",
    { kinds: ["nodes"] },
  ]);
  resolve();
  await clock.advance(0);
  expect([renewed, clock.pending()]).toEqual([1, 0]);
});
