import { describe, expect, it } from "vitest";
import { mutants, simulateMutant } from "./mutants.ts";

// Another mistake that no seed finds shows that an invariant is missing: `npm run simulate -- --mutants` looks for the first seed.
describe("a simulation finds that", () => {
  it.each(Object.values(mutants))("$mistake", async (mutant) => {
    const { violations } = await simulateMutant(mutant, mutant.foundBySeed);
    expect(violations).not.toEqual([]);
  });
});
