import type { Machine } from "@millwright/core";
import { countMachines } from "./machine-counts.ts";
import { type MachineOrder, sortedMachines } from "./sorted-machines.ts";
import { isAvailable } from "../model/phase.ts";

/** Since when a machine has been in its phase, milliseconds: the machine controller changes that time only with the phase. */
export const servesSince = ({ status, metadata }: Machine): number => {
  const since = Date.parse(status?.currentStatus?.lastUpdateTime ?? metadata.creationTimestamp ?? "");
  return Number.isNaN(since) ? 0 : since;
};

/** Machines in service before others, those that have been longest in service first. */
const longestServingFirst: MachineOrder = (a, b) =>
  Number(isAvailable(b)) - Number(isAvailable(a)) ||
  servesSince(a) - servesSince(b) ||
  (a.metadata.name < b.metadata.name ? -1 : 1);

/** The machines in service, those that have been longest in service first. */
export const longestServing = (machines: readonly Machine[]): readonly Machine[] =>
  sortedMachines(machines, longestServingFirst).slice(0, countMachines(machines).available);
