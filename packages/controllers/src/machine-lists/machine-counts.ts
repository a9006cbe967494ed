import { labelKeys, type Machine, phaseOf } from "@millwright/core";
import { isAvailable, isDeleting, isPreservedFailure } from "../model/phase.ts";
import { countWhere, type MachinePredicate } from "./machines-where.ts";

/** Counts of the machines of a list. */
export interface MachineCounts {
  /** Not terminating. */
  readonly present: number;
  /** Present, in phase Running. */
  readonly ready: number;
  /** Present and in service, for however short a time. */
  readonly available: number;
  /** Present, with the mark of the in-place update that moved them to this set. */
  readonly received: number;
  /** Failed, and preserved. */
  readonly preserved: number;
}

const isPresent: MachinePredicate = (machine) => !isDeleting(machine);

const isReady: MachinePredicate = (machine) => isPresent(machine) && phaseOf(machine) === "Running";

/** Whether the machine is present, with the mark of the in-place update that moved it to this set. */
export const isReceived: MachinePredicate = (machine) =>
  isPresent(machine) && machine.metadata.labels?.[labelKeys.updateResult] !== undefined;

/** Lists are immutable, and each reconcile counts thousands of machines many times. */
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
