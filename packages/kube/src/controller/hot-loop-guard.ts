import type { Clock } from "@millwright/base";

/** Bounds how often a key is worked on, so that a loop without end costs little, and a busy key waits a second at most. */
export interface HotLoopGuard {
  /** Counts a pass of the key and answers 0, or says for how many milliseconds the key has had its share of passes. */
  admit(key: string): number;
}

const windowMs = 1_000;
/** How many keys are watched before those of past seconds are cleared out. */
const sweepSize = 1_024;

/** Makes a guard that admits `limit` passes of a key per second. */
export function createHotLoopGuard(clock: Clock, limit: number): HotLoopGuard {
  // Invariant: a window that has not ended holds the number of passes admitted in it, at most `limit`.
  const windows = new Map<string, { readonly startMs: number; passes: number }>();
  let sweepAt = sweepSize;

  function sweep(nowMs: number): void {
    for (const [key, { startMs }] of windows) if (nowMs - startMs >= windowMs) windows.delete(key);
    sweepAt = Math.max(sweepSize, windows.size * 2);
  }

  return {
    admit(key) {
      const nowMs = clock.monotonicMs();
      const window = windows.get(key);
      if (window === undefined || nowMs - window.startMs >= windowMs) {
        if (windows.size >= sweepAt) sweep(nowMs);
        windows.set(key, { startMs: nowMs, passes: 1 });
        return 0;
      }
      if (window.passes >= limit) return window.startMs + windowMs - nowMs;
      window.passes++;
      return 0;
    },
  };
}
