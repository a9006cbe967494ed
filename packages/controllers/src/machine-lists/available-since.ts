import type { Machine } from "@millwright/core";
import { countMachines } from "./machine-counts.ts";
import { type MachineOrder, sortedMachines } from "./sorted-machines.ts";
import { isAvailable } from "../model/phase.ts";

/** Since when a machine has been in its phase, milliseconds: the machine controller changes that time only with the phase. */
export const availableSince = ({ status, metadata }: Machine): number => {
  const since = Date.parse(status?.currentStatus?.lastUpdateTime ?? metadata.creationTimestamp ?? "");
  return Number.isNaN(since) ? 0 : since;
};

/** Machines in service before others, those that have been longest in service first. */
const longestAvailableFirst: MachineOrder = (a, b) =>
  Number(isAvailable(b)) - Number(isAvailable(a)) ||
  availableSince(a) - availableSince(b) ||
  (a.metadata.name < b.metadata.name ? -1 : 1);

/** The machines in service, those that have been longest in service first. */
export const longestAvailable = (machines: readonly Machine[]): readonly Machine[] =>
  sortedMachines(machines, longestAvailableFirst).slice(0, countMachines(machines).available);
