import { expect, it } from "vitest";
import { createSimilarEvents } from "./similar-events.ts";

const make = () => createSimilarEvents({ most: 2, spanMs: 1_000, capacity: 2 });

it("keeps the first messages of a kind separate, also when they are repeated", () => {
  const similar = make();
  const asked = ["a", "b", "c", "a", "d"].map((message, index) => similar.isToBeCombined("k", message, index));
  expect(asked).toEqual([false, false, true, false, true]);
  expect(similar.isToBeCombined("other", "c", 5)).toBe(false);
});

it("starts again after a silence", () => {
  const similar = make();
  for (const message of ["a", "b"]) similar.isToBeCombined("k", message, 0);
  expect(similar.isToBeCombined("k", "c", 1_000)).toBe(true);
  expect(similar.isToBeCombined("k", "d", 2_001)).toBe(false);
});

it("forgets the kind that was silent for longest, not one that is repeated", () => {
  const similar = make();
  for (const kind of ["k", "l"]) for (const message of ["a", "b"]) similar.isToBeCombined(kind, message, 0);
  similar.isToBeCombined("k", "a", 1);
  similar.isToBeCombined("m", "a", 2);
  expect(similar.isToBeCombined("k", "c", 3)).toBe(true);
  expect(similar.isToBeCombined("l", "c", 3)).toBe(false);
});
