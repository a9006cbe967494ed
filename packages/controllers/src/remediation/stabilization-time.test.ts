import { expect, test } from "vitest";
import { noHistory, stabilizationTimeMs } from "./node-history.ts";

const rule = { flapWindowMs: 3_600_000, stabilizationMs: 30_000, maxStabilizationMs: 600_000 };

test.each([
  [0, 0],
  [1, 0],
  [2, 30_000],
  [3, 60_000],
  [6, 480_000],
  [7, 600_000],
  [1_000, 600_000],
])("after %i flaps a node has to be stable for %i ms", (flaps, expected) => {
  expect(stabilizationTimeMs({ ...noHistory, flaps }, rule)).toBe(expected);
});
