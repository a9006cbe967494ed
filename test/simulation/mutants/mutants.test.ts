import { describe, expect, it } from "vitest";
import { scheduleOf } from "../faults/profiles.ts";
import { mutants } from "./mutants.ts";
import { simulate } from "../simulate.ts";

// Another mistake that no seed finds shows that an invariant is missing: `npm run simulate -- --mutants` looks for the first seed.
describe("a simulation finds that", () => {
  it.each(Object.values(mutants))("$mistake", async ({ profile, foundBySeed, alteration }) => {
    const { violations } = await simulate(scheduleOf(foundBySeed, profile), { alteration });
    expect(violations).not.toEqual([]);
  });
});
