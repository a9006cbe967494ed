import {
  annotationKeys,
  defaultMachinePriority,
  type Machine,
  type MachinePhase,
  phaseOf,
  preserveValues,
} from "@millwright/core";
import { isDeleting, isPreserved } from "../machine/phase.ts";

/**
 * How dispensable a phase is; lower is deleted earlier. Machines that are being created stand with Pending and those in an
 * in-place update next to what they will be again: the Go implementation ranks both like Terminating and so deletes them
 * first (machineset-machinedeployment.md, F24).
 */
const phaseRank: Readonly<Record<MachinePhase, number>> = {
  Terminating: 0,
  Failed: 1,
  InPlaceUpdateFailed: 2,
  CrashLoopBackOff: 3,
  Unknown: 4,
  "": 5,
  Pending: 5,
  InPlaceUpdating: 6,
  Available: 7,
  InPlaceUpdateSuccessful: 8,
  Running: 8,
};

const priorityOf = (machine: Machine): number => {
  const text = machine.metadata.annotations?.[annotationKeys.machinePriority];
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : defaultMachinePriority;
};

/** Milliseconds of the cluster-autoscaler's mark; unmarked machines sort behind all marked ones. */
const markOf = (machine: Machine): number => {
  const text = machine.metadata.annotations?.[annotationKeys.markedForDeletionTime];
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
};

/** A phase that this version does not know is judged like an unhealthy machine, not like one that is going. */
const rankOf = (machine: Machine): number =>
  isDeleting(machine) ? phaseRank.Terminating : phaseRank[phaseOf(machine) ?? "Unknown"];

const isAutoPreserved = (machine: Machine): boolean =>
  machine.metadata.annotations?.[annotationKeys.preserve] === preserveValues.autoPreserved;

const expiryOf = (machine: Machine): number => Date.parse(machine.status?.currentStatus?.preserveExpiryTime ?? "");

const createdOf = (machine: Machine): number => Date.parse(machine.metadata.creationTimestamp ?? "") || 0;

/** What orders machines but for their names, the most important number first: a set of thousands is sorted by numbers that are read once. */
function keysOf(machine: Machine, now: Date): readonly number[] {
  const isKept = isPreserved(machine, now);
  return [
    Number(isKept),
    isKept && !isAutoPreserved(machine) ? 1 : 0,
    isKept ? expiryOf(machine) : 0,
    priorityOf(machine),
    markOf(machine),
    rankOf(machine),
    createdOf(machine),
  ];
}

/** Infinity minus infinity is no number; equal values compare as equal. */
const ascending = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

/** Orders machines by age, and those of the same second by name, so that the order is total. */
export const olderFirst = (a: Machine, b: Machine): number =>
  ascending(createdOf(a), createdOf(b)) || (a.metadata.name < b.metadata.name ? -1 : 1);

/**
 * The order in which machines are given up, the most dispensable first: what people asked for (preservation, priority,
 * mark) before health, health before age, and the name last, so that the order is total
 * (machineset-machinedeployment.md, section 9).
 */
export function inDeletionOrder(machines: readonly Machine[], now: Date): readonly Machine[] {
  return machines
    .map((machine) => ({ machine, keys: keysOf(machine, now) }))
    .toSorted((a, b) => {
      for (const [index, key] of a.keys.entries()) {
        const order = ascending(key, b.keys[index] ?? 0);
        if (order !== 0) return order;
      }
      return a.machine.metadata.name < b.machine.metadata.name ? -1 : 1;
    })
    .map(({ machine }) => machine);
}
