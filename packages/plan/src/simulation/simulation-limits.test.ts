import { expect, it } from "vitest";
import { limitReached, type PreviewReach } from "./simulation-limits.ts";

const reached = (reach: Partial<PreviewReach>): string | undefined =>
  limitReached({ moments: 1, machines: 3, aheadMs: 60_000, ...reach });

it("gives a rollout of ten thousand machines, one by one, five times the moments that it takes", () => {
  expect(reached({ moments: 5 * 2 * 10_000, machines: 10_000 })).toBeUndefined();
});

it("ends a simulation that never settles", () => {
  expect(reached({ moments: 20_000 })).toBeUndefined();
  expect(reached({ moments: 20_030 })).toBe(
    "The simulation ends: it has not settled after 20030 moments, the limit for 3 machines",
  );
});

it("ends a simulation of too many machines", () => {
  expect(reached({ machines: 50_000 })).toBeUndefined();
  expect(reached({ machines: 50_001 })).toBe(
    "The simulation ends: it has 50001 machines, more than the limit of 50000",
  );
});

it("ends a simulation that takes too long", () => {
  const days = (count: number): number => count * 24 * 3_600_000;
  expect(reached({ aheadMs: days(366) })).toBeUndefined();
  expect(reached({ aheadMs: days(367) })).toBe("The simulation ends: the rollout takes more than a year");
});
