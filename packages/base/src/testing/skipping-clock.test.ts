import { expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { createSkippingClock } from "./skipping-clock.ts";

it("skips the given time, in wall time and in durations", () => {
  const clock = createSkippingClock();
  const [wallMs, sinceMs] = [clock.now().getTime(), clock.monotonicMs()];
  clock.skip(3_600_000);
  clock.skip(3_600_000);
  expect(clock.now().getTime() - wallMs).toBeGreaterThanOrEqual(7_200_000);
  expect(clock.monotonicMs() - sinceMs).toBeGreaterThanOrEqual(7_200_000);
  expect(systemClock.monotonicMs() - sinceMs).toBeLessThan(7_200_000);
});
