import type { Clock } from "@millwright/base";
import { type Machine, phaseOf } from "@millwright/core/machine-api";
import type { ReadonlyStore } from "@millwright/kube";
import type { FlapRule } from "../model/machine-settings.ts";

/** How often a machine changed between Running and Unknown lately, and for how long its node is stable; in memory only. */
export interface NodeHistory {
  /** How many times the machine changed from Running to Unknown within the window. */
  readonly flaps: number;
  /** Since when the node has been as it is now, healthy or not; wall clock, milliseconds. Undefined: no change was observed. */
  readonly steadySince: number | undefined;
  /** When the node was last observed to become unhealthy; wall clock, milliseconds. As the other time, as if the clock had never jumped. */
  readonly healthyUntil: number | undefined;
}

/** A node without any record. */
export const noHistory: NodeHistory = { flaps: 0, steadySince: undefined, healthyUntil: undefined };

/**
 * Milliseconds for which the node of a machine must be stable before the machine is Running again: 0 after the first flap within the window, then
 * `stabilizationMs`, doubled with each flap up to `maxStabilizationMs`. A node that changes its health every 30 s for an hour thus causes some twenty writes instead of
 * hundreds, and no pod is scheduled to it meanwhile because of us.
 */
export const stabilizationTimeMs = (
  { flaps }: NodeHistory,
  { stabilizationMs, maxStabilizationMs }: FlapRule,
): number => (flaps < 2 ? 0 : Math.min(maxStabilizationMs, stabilizationMs * 2 ** Math.min(flaps - 2, 30)));

/**
 * Histories of the nodes of unhealthy machines. They are lost on restart, which is right for flaps: the node is trusted sooner, once, and one write costs less than storing flaps in the
 * objects. No machine is remediated because of it: the next process observes the node for the whole health timeout.
 */
export interface NodeHistories {
  /** Records the health of the node of an unhealthy machine, and returns its history. */
  record(machine: Machine, isHealthy: boolean): NodeHistory;
}

/** All times are of the monotonic clock. */
interface Entry {
  /** When the machine changed from Running to Unknown, oldest first. */
  readonly flaps: number[];
  isHealthy: boolean | undefined;
  steadySince: number | undefined;
  healthyUntil: number | undefined;
}

/** Flaps that are kept of one machine: after so many the stabilization time is the longest. */
const maxFlaps = 16;

/** Keeps one small entry for each machine that was not Running at some time; it is removed with the machine. */
export function createNodeHistories(
  machines: Pick<ReadonlyStore<Machine>, "subscribe">,
  clock: Clock,
  flapWindowMs: number,
): NodeHistories {
  const entries = new Map<string, Entry>();
  const entryOf = (uid: string): Entry => {
    const known = entries.get(uid);
    if (known !== undefined) return known;
    const entry: Entry = { flaps: [], isHealthy: undefined, steadySince: undefined, healthyUntil: undefined };
    entries.set(uid, entry);
    return entry;
  };
  const removeOldFlaps = ({ flaps }: Entry, now: number): void => {
    const recent = flaps.filter((time) => time + flapWindowMs > now).slice(-maxFlaps);
    flaps.splice(0, flaps.length, ...recent);
  };

  machines.subscribe((old, current) => {
    const uid = (current ?? old)?.metadata.uid ?? "";
    if (current === undefined) return void entries.delete(uid);
    const phase = phaseOf(current);
    const now = clock.monotonicMs();
    if (phase === "Unknown" && old !== undefined && phaseOf(old) === "Running") {
      const entry = entryOf(uid);
      entry.flaps.push(now);
      removeOldFlaps(entry, now);
    }
    const entry = entries.get(uid);
    if (phase !== "Running" || entry === undefined) return;
    removeOldFlaps(entry, now);
    if (entry.flaps.length === 0) entries.delete(uid);
    else Object.assign(entry, { isHealthy: undefined, steadySince: undefined, healthyUntil: undefined });
  });

  return {
    record({ metadata }, isHealthy) {
      const now = clock.monotonicMs();
      const offsetMs = clock.now().getTime() - now;
      const wallTime = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms + offsetMs);
      const entry = entryOf(metadata.uid ?? "");
      removeOldFlaps(entry, now);
      if (entry.isHealthy === true && !isHealthy) entry.healthyUntil = now;
      if (entry.isHealthy !== isHealthy) entry.steadySince = now;
      entry.isHealthy = isHealthy;
      return {
        flaps: entry.flaps.length,
        steadySince: wallTime(entry.steadySince),
        healthyUntil: wallTime(entry.healthyUntil),
      };
    },
  };
}
