import type { FlapRule } from "../model/machine-settings.ts";
/** How often a machine has been up and down lately, and how still its node holds; kept in memory, for the time of a process. */
export interface NodeHistory {
  /** How many times the machine went from Running to Unknown within the window. */
  readonly flaps: number;
  /** Since when the node has been as it is now, healthy or not; wall clock, milliseconds. Undefined: not seen to change. */
  readonly steadySince: number | undefined;
  /** When the node was last seen to stop being healthy; wall clock, milliseconds. */
  readonly healthyUntil: number | undefined;
}

/** A node of which nothing is remembered. */
export const noHistory: NodeHistory = { flaps: 0, steadySince: undefined, healthyUntil: undefined };

/**
 * Milliseconds for which the node of a machine must hold still before the machine is Running again: 0 after the first flap within the window, then
 * `stabilizationMs`, doubled with each flap up to `maxStabilizationMs`. So a node that goes up and down every 30 s for an hour causes some twenty writes instead of
 * hundreds, and no pod is scheduled to it in between because of us.
 */
export const stabilizationTimeMs = (
  { flaps }: NodeHistory,
  { stabilizationMs, maxStabilizationMs }: FlapRule,
): number => (flaps < 2 ? 0 : Math.min(maxStabilizationMs, stabilizationMs * 2 ** Math.min(flaps - 2, 30)));
