import type { Clock } from "@millwright/base";

/** A rate limit. */
export interface BucketSize {
  /** Burst size. */
  readonly burst: number;
  readonly perSecond: number;
}

/** The rate limit of an account. */
export interface Throttle extends BucketSize {
  /** Limited operations. Absent: all of them, with one limit. */
  readonly operations?: readonly string[];
}

/** Takes one token of a bucket; false when it is empty. */
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
