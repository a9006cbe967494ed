import type { OutageRule } from "../model/machine-settings.ts";
/** Machines of the namespace, or of one of its zones, as the protection against outages counts them. */
export interface Tally {
  /** Machines that have a node and are not on their way out: Running, Unknown, or in an update in place. */
  readonly joined: number;
  /** When each of them that is Unknown became so; wall clock, milliseconds, oldest first. */
  readonly unknownSince: readonly number[];
}

/**
 * When the outage ends that a tally shows at `now`, should nothing else happen; wall clock, milliseconds. `undefined` when there is none: fewer machines than
 * minimum and share turned Unknown within the window.
 */
export function outageUntil(
  { joined, unknownSince }: Tally,
  { outageThreshold, outageMinMachines, outageWindowMs }: OutageRule,
  now: number,
): number | undefined {
  const lately = unknownSince.filter((since) => since + outageWindowMs > now);
  const threshold = Math.max(1, outageMinMachines, Math.ceil(outageThreshold * joined));
  // With this one out of the window, the rest is too few.
  const last = lately[lately.length - threshold];
  return last === undefined ? undefined : last + outageWindowMs;
}
