import { expect, it } from "vitest";
import { limitReached } from "./play-limits.ts";

it("gives a rollout of ten thousand machines, one by one, five times the moments that it takes", () => {
  expect(limitReached(5 * 2 * 10_000, 10_000)).toBeUndefined();
});

it("ends what never comes to rest", () => {
  expect(limitReached(20_000, 3)).toBeUndefined();
  expect(limitReached(20_030, 3)).toBe(
    "It has not come to rest after 20030 moments: a preview of 3 machines goes no further",
  );
});

it("ends what memory has no room for", () => {
  expect(limitReached(1, 50_000)).toBeUndefined();
  expect(limitReached(1, 50_001)).toBe("There are 50001 machines: a preview goes no further than 50000");
});
