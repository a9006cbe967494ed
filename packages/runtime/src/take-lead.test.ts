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
  void takeLead({ acquired: () => acquired.promise }, caches, { clock, log }, signal).then(() => (leads = true));
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
