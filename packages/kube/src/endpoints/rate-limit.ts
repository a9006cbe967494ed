/** How often something may be done. */
export interface RateLimitOptions {
  readonly perMinute: number;
  /** How often at once, after a pause. */
  readonly burst: number;
}

/** Keys that are remembered at most: with more, those that took a turn longest ago are forgotten. */
const MAX_KEYS = 1_000;

/** Creates a rate limit for each key: a call takes one of its turns, or returns in how many milliseconds there is one. */
export function createRateLimit({ perMinute, burst }: RateLimitOptions): (key: string, nowMs: number) => number {
  const turnMs = 60_000 / perMinute;
  /** When the turns that were taken have passed. Invariant: the oldest first. */
  const busyUntil = new Map<string, number>();
  return (key, nowMs) => {
    const untilMs = Math.max(busyUntil.get(key) ?? 0, nowMs) + turnMs;
    const waitMs = untilMs - nowMs - burst * turnMs;
    if (waitMs > 0) return waitMs;
    busyUntil.delete(key);
    const [oldest] = busyUntil.keys();
    if (oldest !== undefined && busyUntil.size >= MAX_KEYS) busyUntil.delete(oldest);
    busyUntil.set(key, untilMs);
    return 0;
  };
}
