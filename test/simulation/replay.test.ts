import { expect, it } from "vitest";
import { type Schedule, scheduleOf } from "./faults/profiles.ts";
import { simulate } from "./simulate.ts";

/** A crash, a partition and lost responses within half an hour. */
const schedule: Schedule = {
  ...scheduleOf(3, "mixed"),
  faults: [
    { atMs: 300_000, kind: "roll", durationMs: 0, seed: 1 },
    { atMs: 310_000, kind: "crash-at-write", durationMs: 300_000, seed: 2 },
    { atMs: 320_000, kind: "api-lost", durationMs: 120_000, seed: 3 },
    { atMs: 400_000, kind: "partition", durationMs: 120_000, seed: 4 },
  ],
};

it("two runs of one seed do exactly the same, line by line", async () => {
  const lines: string[][] = [[], []];
  const digests = [];
  for (const of of lines) digests.push((await simulate(schedule, { onLine: (line) => void of.push(line) })).digest);
  expect(lines[1]).toEqual(lines[0]);
  expect(digests[1]).toBe(digests[0]);
  expect(lines[0]?.length).toBeGreaterThan(400);
});

it("two seeds do not do the same", async () => {
  const none = { ...schedule, faults: [{ atMs: 60_000, kind: "crash", durationMs: 0, seed: 1 }] };
  const [one, other] = [await simulate(none), await simulate({ ...none, seed: 4 })];
  expect(one.digest).not.toBe(other.digest);
});
