import {
  annotationKeys,
  defaultMachinePriority,
  type Machine,
  type MachinePhase,
  phaseOf,
  preserveValues,
} from "@millwright/core/machine-api";
import { availableSince } from "../machine-lists/available-since.ts";
import { isDeleting, isPreserved } from "../model/phase.ts";
import { readIntent } from "../model/creation-intent.ts";
import { hasId, isProvisioning } from "../model/provisioning.ts";
import { type MachineList, machinesWhere, sortedBy } from "../machine-lists/machine-list.ts";

/**
 * How dispensable a phase is; lower is deleted earlier. Machines that are being created rank with Pending and those in an
 * in-place update next to what they will be again: the Go implementation ranks both like Terminating and so deletes them
 * first.
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

/** Whether a machine that is not Running yet was created with the id of its VM, to keep that VM: no creation of it is recorded, or one for another Machine. */
function isGivenVm(machine: Machine): boolean {
  if (!hasId(machine) || (phaseOf(machine) !== "Pending" && !isProvisioning(machine))) return false;
  return readIntent(machine) === undefined || machine.metadata.annotations?.[annotationKeys.vmName] !== undefined;
}

/** A phase that this version does not know ranks like an unhealthy machine, not like a terminating one. */
function rankOf(machine: Machine): number {
  if (isDeleting(machine)) return phaseRank.Terminating;
  return isGivenVm(machine) ? phaseRank.Running : phaseRank[phaseOf(machine) ?? "Unknown"];
}

const isAutoPreserved = (machine: Machine): boolean =>
  machine.metadata.annotations?.[annotationKeys.preserve] === preserveValues.autoPreserved;

const expiryOf = (machine: Machine): number => Date.parse(machine.status?.currentStatus?.preserveExpiryTime ?? "");

const createdOf = (machine: Machine): number => Date.parse(machine.metadata.creationTimestamp ?? "") || 0;

/** Orders machines that are not preserved. */
const surplusKey = (machine: Machine): readonly number[] => [
  priorityOf(machine),
  markOf(machine),
  rankOf(machine),
  createdOf(machine),
];

/** The same, but of those in service that come first that have served for the shortest time. */
const settlingKey = (machine: Machine): readonly number[] => {
  const rank = rankOf(machine);
  const settling = rank < phaseRank.Available ? 0 : -availableSince(machine);
  return [priorityOf(machine), markOf(machine), rank, settling, createdOf(machine)];
};

/** Orders preserved machines: those preserved by users are kept longest, and of both kinds those with the latest expiry. */
const preservedKey = (machine: Machine): readonly number[] => [
  isAutoPreserved(machine) ? 0 : 1,
  expiryOf(machine),
  ...surplusKey(machine),
];

const hasExpiry = ({ status }: Machine): boolean => status?.currentStatus?.preserveExpiryTime != null;

/** Orders machines by age, and those of the same second by name, so that the order is total. */
export const olderFirst = (a: Machine, b: Machine): number =>
  createdOf(a) - createdOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1);

/**
 * The order in which machines are deleted, the most dispensable first: the settings of users (preservation, priority,
 * mark) before health, health before age, and the name last, so that the order is total
 * (MCM, `pkg/controller/controller_utils.go` ActiveMachines).
 *
 * @param isMinReadyHonored whether machines count as available only after some time: those that do not count yet are then deleted before those that do
 */
export function inDeletionOrder(machines: MachineList, now: Date, isMinReadyHonored = false): readonly Machine[] {
  const kept = new Set(machinesWhere(machines, hasExpiry).filter((machine) => isPreserved(machine, now)));
  const all = sortedBy(machines, isMinReadyHonored ? settlingKey : surplusKey);
  return kept.size === 0 ? all : [...all.filter((machine) => !kept.has(machine)), ...sortedBy([...kept], preservedKey)];
}

/** How machines are selected for deletion. */
export interface SelectionOptions {
  /** See {@link inDeletionOrder}. Default: not. */
  readonly isMinReadyHonored?: boolean | undefined;
  /** Whether the VM of a machine belongs to another Machine. Default: none does. */
  readonly belongsToOther?: ((machine: Machine) => boolean) | undefined;
}

/**
 * The first so many machines, in {@link inDeletionOrder}, of those that may be deleted. Those whose VM belongs to another Machine come before all others, whatever their settings, which may be copies: with them no VM is lost.
 */
export function selectForDeletion(
  machines: MachineList,
  count: number,
  isDeletable: (machine: Machine) => boolean,
  now: Date,
  { isMinReadyHonored = false, belongsToOther = () => false }: SelectionOptions = {},
): readonly Machine[] {
  const first: Machine[] = [];
  if (count === 0) return first;
  const ordered = Map.groupBy(inDeletionOrder(machines, now, isMinReadyHonored), belongsToOther);
  for (const machine of [...(ordered.get(true) ?? []), ...(ordered.get(false) ?? [])]) {
    if (first.length === count) break;
    if (isDeletable(machine)) first.push(machine);
  }
  return first;
}
