import { labelKeys, type Machine, phaseOf } from "@millwright/core";
import { isAvailable, isDeleting, isPreservedFailure } from "../../machine/phase.ts";

/** How many machines of a list there are of each sort. */
export interface MachineCounts {
  /** Not on their way out. */
  readonly present: number;
  /** Present, in phase Running. */
  readonly ready: number;
  /** Present and serving, for however short a time. */
  readonly available: number;
  /** Present, with the mark of an update in place that handed them over. */
  readonly received: number;
  /** Failed, and kept for a look at them. */
  readonly preserved: number;
}

function count(machines: readonly Machine[]): MachineCounts {
  let [present, ready, available, received, preserved] = [0, 0, 0, 0, 0];
  for (const machine of machines) {
    const phase = phaseOf(machine);
    if (isPreservedFailure(machine)) preserved++;
    if (isDeleting(machine)) continue;
    present++;
    if (phase === "Running") ready++;
    if (isAvailable(machine)) available++;
    if (machine.metadata.labels?.[labelKeys.updateResult] !== undefined) received++;
  }
  return { present, ready, available, received, preserved };
}

/** Lists never change, and a pass asks many times about thousands of machines. */
const counted = new WeakMap<readonly Machine[], MachineCounts>();

/** Counts machines, each list once. */
export function countMachines(machines: readonly Machine[]): MachineCounts {
  const known = counted.get(machines);
  if (known !== undefined) return known;
  const counts = count(machines);
  counted.set(machines, counts);
  return counts;
}
