import { type Clock, type Machine, phaseOf } from "@millwright/core";
import type { ReadonlyStore } from "@millwright/kube";
import type { NodeHistory } from "./flapping.ts";

/**
 * Remembers what the nodes of unhealthy machines went through. Lost with the process, which is right for flaps: then a node is believed sooner, once, and a write costs
 * less than remembering in the objects would. No machine is replaced for it: when the node was healthy last, its own conditions tell the next process.
 */
export interface NodeHistories {
  /**
   * Takes note of how the node of an unhealthy machine is now, and answers what is remembered of it. `unhealthySince` is the node's own word, wall clock, milliseconds; it
   * counts when nothing is remembered.
   */
  note(machine: Machine, isHealthy: boolean, unhealthySince?: number): NodeHistory;
}

interface Entry {
  /** When the machine went from Running to Unknown; wall clock, milliseconds, oldest first. */
  readonly flaps: number[];
  isHealthy: boolean | undefined;
  steadySince: number | undefined;
  healthyUntil: number | undefined;
}

/** Flaps that are remembered of one machine: by then the time to hold still is the longest. */
const maxFlaps = 16;

/** One small entry for each machine that was not Running at some time; it goes with the machine. */
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
  const forgetOld = ({ flaps }: Entry, now: number): void => {
    const recent = flaps.filter((time) => time + flapWindowMs > now).slice(-maxFlaps);
    flaps.splice(0, flaps.length, ...recent);
  };

  machines.subscribe((old, current) => {
    const uid = (current ?? old)?.metadata.uid ?? "";
    if (current === undefined) return void entries.delete(uid);
    const phase = phaseOf(current);
    const now = clock.now().getTime();
    if (phase === "Unknown" && old !== undefined && phaseOf(old) === "Running") {
      const entry = entryOf(uid);
      entry.flaps.push(now);
      forgetOld(entry, now);
    }
    const entry = entries.get(uid);
    if (phase !== "Running" || entry === undefined) return;
    forgetOld(entry, now);
    if (entry.flaps.length === 0) entries.delete(uid);
    else Object.assign(entry, { isHealthy: undefined, steadySince: undefined, healthyUntil: undefined });
  });

  return {
    note({ metadata }, isHealthy, unhealthySince) {
      const now = clock.now().getTime();
      const entry = entryOf(metadata.uid ?? "");
      forgetOld(entry, now);
      if (entry.isHealthy === true && !isHealthy) entry.healthyUntil = now;
      else if (entry.isHealthy === undefined && !isHealthy && unhealthySince !== undefined)
        entry.healthyUntil = Math.min(now, unhealthySince);
      if (entry.isHealthy !== isHealthy) entry.steadySince = now;
      entry.isHealthy = isHealthy;
      const { flaps, steadySince, healthyUntil } = entry;
      return { flaps: flaps.length, steadySince, healthyUntil };
    },
  };
}
