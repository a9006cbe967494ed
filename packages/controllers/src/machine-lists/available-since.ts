import type { Machine } from "@millwright/core/machine-api";
import { countWhere, type MachineList, sortedBy } from "./machine-list.ts";
import { isAvailable } from "../model/phase.ts";

/** Since when a machine has been in its phase, milliseconds: the machine controller changes that time only with the phase. */
export const availableSince = ({ status, metadata }: Machine): number => {
  const since = Date.parse(status?.currentStatus?.lastUpdateTime ?? metadata.creationTimestamp ?? "");
  return Number.isNaN(since) ? 0 : since;
};

/** Machines in service before others, those that have been longest in service first. */
const longestAvailableFirst = (machine: Machine): readonly number[] => [
  isAvailable(machine) ? 0 : 1,
  availableSince(machine),
];

/** The machines in service, those that have been longest in service first. */
export const longestAvailable = (machines: MachineList): readonly Machine[] =>
  sortedBy(machines, longestAvailableFirst).slice(0, countWhere(machines, isAvailable));
