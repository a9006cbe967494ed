import { expect, it } from "vitest";
import { limitReached, type PreviewReach } from "./play-limits.ts";

const reached = (reach: Partial<PreviewReach>): string | undefined =>
  limitReached({ moments: 1, machines: 3, aheadMs: 60_000, ...reach });

it("gives a rollout of ten thousand machines, one by one, five times the moments that it takes", () => {
  expect(reached({ moments: 5 * 2 * 10_000, machines: 10_000 })).toBeUndefined();
});

it("ends what never comes to rest", () => {
  expect(reached({ moments: 20_000 })).toBeUndefined();
  expect(reached({ moments: 20_030 })).toBe(
    "It has not come to rest after 20030 moments: a preview of 3 machines goes no further",
  );
});

it("ends what memory has no room for", () => {
  expect(reached({ machines: 50_000 })).toBeUndefined();
  expect(reached({ machines: 50_001 })).toBe("There are 50001 machines: a preview goes no further than 50000");
});

it("ends what nobody waits for", () => {
  const days = (count: number): number => count * 24 * 3_600_000;
  expect(reached({ aheadMs: days(366) })).toBeUndefined();
  expect(reached({ aheadMs: days(367) })).toBe("It takes more than a year: a preview goes no further");
});
