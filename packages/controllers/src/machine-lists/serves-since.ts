import type { Machine } from "@millwright/core";
import { countMachines } from "./machine-counts.ts";
import { type MachineOrder, sortedMachines } from "./sorted-machines.ts";
import { isAvailable } from "../model/phase.ts";

/** Since when, in milliseconds, a machine is in the phase that it is in: the machine controller moves that time with the phase only. */
export const servesSince = ({ status, metadata }: Machine): number => {
  const since = Date.parse(status?.currentStatus?.lastUpdateTime ?? metadata.creationTimestamp ?? "");
  return Number.isNaN(since) ? 0 : since;
};

/** Machines that serve before those that do not, those that have served longest first. */
const longestServingFirst: MachineOrder = (a, b) =>
  Number(isAvailable(b)) - Number(isAvailable(a)) ||
  servesSince(a) - servesSince(b) ||
  (a.metadata.name < b.metadata.name ? -1 : 1);

/** The machines that serve, those that have served longest first. */
export const longestServing = (machines: readonly Machine[]): readonly Machine[] =>
  sortedMachines(machines, longestServingFirst).slice(0, countMachines(machines).available);
