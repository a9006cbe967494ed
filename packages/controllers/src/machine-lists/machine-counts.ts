import { labelKeys, type Machine, phaseOf } from "@millwright/core";
import { isAvailable, isDeleting, isPreservedFailure } from "../model/phase.ts";
import { countWhere, type Question } from "./machines-where.ts";

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

const isPresent: Question = (machine) => !isDeleting(machine);

const isReady: Question = (machine) => isPresent(machine) && phaseOf(machine) === "Running";

/** Whether the machine is present, with the mark of an update in place that handed it over. */
export const isReceived: Question = (machine) =>
  isPresent(machine) && machine.metadata.labels?.[labelKeys.updateResult] !== undefined;

/** Lists never change, and a pass asks many times about thousands of machines. */
const counted = new WeakMap<readonly Machine[], MachineCounts>();

/** Counts machines, each list once. */
export function countMachines(machines: readonly Machine[]): MachineCounts {
  const known = counted.get(machines);
  if (known !== undefined) return known;
  const counts: MachineCounts = {
    present: countWhere(machines, isPresent),
    ready: countWhere(machines, isReady),
    available: countWhere(machines, isAvailable),
    received: countWhere(machines, isReceived),
    preserved: countWhere(machines, isPreservedFailure),
  };
  counted.set(machines, counts);
  return counts;
}
