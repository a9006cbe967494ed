import { expect, it } from "vitest";
import { followStall } from "./stall.ts";

it("adds up the time in which the heartbeat stays the same, and starts again with the next one", () => {
  const first = followStall({ beat: 1n, ms: 0 }, 1n, 500, 500);
  const second = followStall(first, 1n, 700, 500);
  expect([first.ms, second.ms]).toEqual([500, 1_200]);
  expect(followStall(second, 2n, 500, 500)).toEqual({ beat: 2n, ms: 0 });
});

it("does not count a pause of the whole process", () => {
  expect(followStall({ beat: 1n, ms: 500 }, 1n, 3_600_000, 500)).toEqual({ beat: 1n, ms: 1_500 });
});
