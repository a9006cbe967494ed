import { expect, it } from "vitest";
import { type Schedule, scheduleOf } from "./faults/profiles.ts";
import { shrink } from "./shrink.ts";

const schedule: Schedule = {
  ...scheduleOf(1, "mixed"),
  faults: Array.from({ length: 13 }, (_, index) => ({ atMs: index, kind: "crash", durationMs: 0, seed: index })),
};
const seedsOf = ({ faults }: Schedule): readonly number[] => faults.map(({ seed }) => seed);

it("keeps just the faults that are needed together", async () => {
  let runs = 0;
  const small = await shrink(schedule, async (tried) => {
    runs++;
    return [3, 8, 11].every((seed) => seedsOf(tried).includes(seed));
  });
  expect(seedsOf(small)).toEqual([3, 8, 11]);
  expect(runs).toBeLessThan(60);
});

it("keeps no fault where none is needed, and everything that a seed decides", async () => {
  const small = await shrink(schedule, async () => true);
  expect(small).toEqual({ ...schedule, faults: [] });
});
