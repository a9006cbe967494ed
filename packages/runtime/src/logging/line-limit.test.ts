import { createVirtualClock } from "@millwright/core/testing";
import { expect, test } from "vitest";
import { createLineLimiter } from "./line-limit.ts";

const limit = { burst: 3, periodMs: 60_000 };

test("a burst of lines is admitted, then one a minute with the number of those that were left out", async () => {
  const clock = createVirtualClock();
  const limiter = createLineLimiter(limit, clock);
  const admitted: [number, number][] = [];
  for (let second = 0; second < 200; second++) {
    const leftOut = limiter.admit("a");
    if (leftOut !== undefined) admitted.push([second, leftOut]);
    await clock.advance(1_000);
  }
  expect(admitted).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [60, 57],
    [120, 59],
    [180, 59],
  ]);
});

test("a subject has its burst again after a long time without lines, and no larger one", async () => {
  const clock = createVirtualClock();
  const limiter = createLineLimiter(limit, clock);
  const burst = () => [1, 2, 3, 4, 5].map(() => limiter.admit("a"));
  expect(burst()).toEqual([0, 0, 0, undefined, undefined]);
  await clock.advance(3_600_000);
  expect(burst()).toEqual([2, 0, 0, undefined, undefined]);
});

test("each subject has its own lines", () => {
  const limiter = createLineLimiter({ burst: 1, periodMs: 60_000 }, createVirtualClock());
  expect(["a", "a", "b"].map((subject) => limiter.admit(subject))).toEqual([0, undefined, 0]);
});
