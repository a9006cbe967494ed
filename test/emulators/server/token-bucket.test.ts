import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createTokenBuckets } from "./token-bucket.ts";

describe("token buckets", () => {
  it("return their tokens and refill with time, independently", async () => {
    const clock = createVirtualClock();
    const take = createTokenBuckets({ burst: 2, perSecond: 1 }, clock);
    expect([take("a"), take("a"), take("a"), take("b")]).toEqual([true, true, false, true]);
    await clock.advance(1_000);
    expect([take("a"), take("a")]).toEqual([true, false]);
    await clock.advance(60_000);
    expect([take("a"), take("a"), take("a")]).toEqual([true, true, false]);
  });
});
