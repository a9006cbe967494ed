/** How long the main thread has not run, as another thread sees it. */
export interface Stall {
  /** The last heartbeat that was seen. */
  readonly beat: bigint;
  /** Milliseconds since then in which the observer ran itself: a process that is suspended as a whole does not stall. */
  readonly ms: number;
}

/**
 * What another look at the heartbeat shows.
 *
 * @param elapsedMs since the look before
 * @param intervalMs between two looks: more than twice of it was a pause of the whole process
 */
export function followStall(before: Stall, beat: bigint, elapsedMs: number, intervalMs: number): Stall {
  if (beat !== before.beat) return { beat, ms: 0 };
  return { beat, ms: before.ms + Math.min(elapsedMs, 2 * intervalMs) };
}
