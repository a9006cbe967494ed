import type { Clock } from "@millwright/core";

/** How often may be asked. */
export interface BucketSize {
  /** Requests that are free at first, and after a long pause. */
  readonly burst: number;
  readonly perSecond: number;
}

/** How often an account may ask, and for what. */
export interface Throttle extends BucketSize {
  /** Operations that draw on the budget. Absent: all of them, on one budget. */
  readonly operations?: readonly string[];
}

/** Takes one token of a budget; false when there is none. */
export type TakeToken = (budget: string) => boolean;

/** A token bucket for each budget, filled by the clock. */
export function createTokenBuckets({ burst, perSecond }: BucketSize, clock: Clock): TakeToken {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (budget) => {
    const nowMs = clock.monotonicMs();
    const bucket = buckets.get(budget) ?? { tokens: burst, atMs: nowMs };
    buckets.set(budget, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  };
}
