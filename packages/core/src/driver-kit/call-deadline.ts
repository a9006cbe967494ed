import type { Clock } from "../clock.ts";

/** Milliseconds until a deadline; negative when it has passed. */
export type RemainingMs = () => number;

/** A call whose deadline nobody states has so long, milliseconds. */
const defaultCallMs = 5 * 60_000;

const deadlines = new WeakMap<AbortSignal, RemainingMs>();

/** Notes the deadline of everything that ends with this signal, so that what would end too late need not begin. */
export const setDeadline = (signal: AbortSignal, remainingMs: RemainingMs): void =>
  void deadlines.set(signal, remainingMs);

/** The deadline of what ends with this signal: the one that was noted, or else five minutes from now. */
export function deadlineOf(signal: AbortSignal, clock: Clock): RemainingMs {
  const endMs = clock.monotonicMs() + defaultCallMs;
  return deadlines.get(signal) ?? (() => endMs - clock.monotonicMs());
}
