import { describe, expect, it } from "vitest";
import {
  afterAcceptance,
  afterIdleness,
  afterRejection,
  firstRate,
  type GrantedRate,
  sendRate,
} from "./granted-rate.ts";

const accept = (rate: GrantedRate, times: number): GrantedRate =>
  times === 0 ? rate : accept(afterAcceptance(rate, true), times - 1);

describe("the rate that a cloud grants", () => {
  it("is looked for quickly from one request per second upwards, until the first refusal measures it", () => {
    const first = firstRate(0, 0);
    expect([0, 1, 2, 9].map((accepted) => sendRate(accept(first, accepted)))).toEqual([1, 2, 3, 10]);
    // 9 requests in 5 s and what is left of one: 2 per second, of which a tenth refills the bucket.
    const measured = afterRejection(accept(first, 9), 5_000, 5_000);
    expect(measured).toMatchObject({ perSecond: 1.8, isMeasured: true, accepted: 0 });
  });

  it("is exceeded carefully once it is measured", () => {
    const measured = afterRejection(accept(firstRate(0, 0), 9), 5_000, 5_000);
    const rates = [0, 27, 40, 80].map((accepted) => sendRate(accept(measured, accepted)));
    expect(rates).toEqual([1.8, expect.closeTo(2, 1), 2.25, 3.6]);
  });

  it("never grows by a refusal, however short the measurement", () => {
    const measured = afterRejection(accept(firstRate(0, 0), 9), 5_000, 5_000);
    expect(afterRejection(accept(measured, 1), 5_001, 5_001).perSecond).toBeLessThan(1.8);
  });

  it("is halved when nothing is accepted, to at least one request in five seconds, and measured again", () => {
    let rate = firstRate(0, 0);
    const seen: number[] = [];
    for (let refusals = 0; refusals < 4; refusals++) {
      rate = afterRejection(rate, 1_000, 1_000);
      seen.push(rate.perSecond);
    }
    expect(seen).toEqual([0.5, 0.25, 0.2, 0.2]);
    expect(sendRate(accept(rate, 4))).toBe(1);
  });

  it("is not measured while nothing waits, nor during a long pause", () => {
    const idle = afterIdleness(accept(firstRate(0, 0), 3), 60_000);
    expect(afterRejection(accept(idle, 4), 62_000, 62_000).perSecond).toBeCloseTo(0.9 * 2.5);
    const paused = firstRate(0, 30_000);
    expect(afterRejection(accept(paused, 4), 31_500, 31_500).perSecond).toBeCloseTo(0.9 * 2);
  });

  it("counts what was sent before a refusal for the measurement, and not for growth", () => {
    const rate = afterAcceptance(firstRate(0, 0), false);
    expect([sendRate(rate), rate.acceptedWhileBusy]).toEqual([1, 1]);
  });
});
