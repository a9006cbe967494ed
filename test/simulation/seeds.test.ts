import { describe, expect, it } from "vitest";
import { profiles, scheduleOf } from "./faults/profiles.ts";
import { simulate } from "./simulate.ts";

/** More seeds: `npm run simulate -- --seeds 500`. */
const seedsOfProfile = {
  mixed: 4,
  api: 2,
  lists: 2,
  neighbours: 1,
  processes: 2,
  cloud: 2,
  people: 2,
  drains: 3,
  creation: 2,
  rollout: 2,
};

describe.each(Object.entries(seedsOfProfile))("with the faults of the profile %s", (profile, seeds) => {
  it.each(Array.from({ length: seeds }, (_, index) => index + 1))("every invariant holds, seed %i", async (seed) => {
    const { violations, timeline } = await simulate(scheduleOf(seed, profile));
    expect(violations, timeline.slice(-200).join("\n")).toEqual([]);
  });
});

it("every profile chooses among kinds that exist", () => {
  for (const name of Object.keys(profiles)) expect(() => scheduleOf(1, name)).not.toThrow();
});
