import type { Machine, MachineSet } from "@millwright/core";
import { longestServing } from "../../machine-lists/serves-since.ts";
import { countMachines } from "../../machine-lists/machine-counts.ts";

/** Sizes of one MachineSet, counted from the machines that exist and not from a status that lags. */
export interface SetSize {
  readonly name: string;
  /** `spec.replicas`: how many machines the set is told to have. */
  readonly spec: number;
  /** Machines that exist, including those on their way out: they still use quota. */
  readonly existing: number;
  /** Machines that serve and stay: never more than `spec`, for the set is about to delete the rest. */
  readonly available: number;
}

/** The set with its machines, as the deployment's planners and status look at it. */
export interface SetView {
  readonly set: MachineSet;
  readonly machines: readonly Machine[];
  /** Names of machines that do not serve for long enough to count: those that have begun last. Default: none. */
  readonly settling?: ReadonlySet<string>;
}

/** The machines of the set that count as available, those that have served longest first. */
export function servingOf({ machines, settling = new Set() }: SetView): readonly Machine[] {
  const serving = longestServing(machines);
  return serving.slice(0, serving.findLastIndex(({ metadata }) => !settling.has(metadata.name)) + 1);
}

/** How many machines of the set count as available. */
export const servingIn = (view: SetView): number =>
  (view.settling?.size ?? 0) === 0 ? countMachines(view.machines).available : servingOf(view).length;

/** @param spec counted against this instead of what the set is told */
export function sizeOf(view: SetView, spec = view.set.spec?.replicas ?? 0): SetSize {
  const { set, machines } = view;
  return {
    name: set.metadata.name,
    spec,
    existing: machines.length,
    available: Math.min(servingIn(view), spec),
  };
}

/** Failed machines that are kept for a look at them. */
export const preservedFailures = ({ machines }: SetView): number => countMachines(machines).preserved;

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
