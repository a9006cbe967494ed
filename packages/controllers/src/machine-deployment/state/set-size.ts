import { type Machine, type MachineSet, labelKeys } from "@millwright/core/machine-api";
import { longestAvailable } from "../../machine-lists/available-since.ts";
import { countWhere, type MachineList } from "../../machine-lists/machine-list.ts";
import { isAvailable, isPresent } from "../../model/phase.ts";

/** Sizes of one MachineSet, counted from the machines that exist and not from a status that lags. */
export interface SetSize {
  readonly name: string;
  /** `spec.replicas` of the set. */
  readonly spec: number;
  /** Machines that exist, including terminating ones: they still use quota. */
  readonly existing: number;
  /** Machines that are not terminating. Default: none is known. */
  readonly present?: number;
  /** Available machines: never more than `spec`, because the set is about to delete the rest. */
  readonly available: number;
}

/** The set with its machines, for the planners and the status of the deployment. */
export interface SetView {
  readonly set: MachineSet;
  readonly machines: MachineList;
  /** Names of machines that have not served for long enough to count: the newest ones. Default: none. */
  readonly settling?: ReadonlySet<string>;
}

/** A number recorded on a set at its last scaling; `undefined` when missing or invalid. */
export const notedNumber = (set: MachineSet, key: string): number | undefined => {
  const text = set.metadata.annotations?.[key] ?? "";
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
};

/** Whether the set has machines, or is to have some. */
export const hasSome = ({ set, machines }: SetView): boolean => (set.spec.replicas ?? 0) > 0 || machines.length > 0;

/** Whether the machine is present, with the mark of the in-place update that moved it to this set. */
export const isReceived = (machine: Machine): boolean =>
  isPresent(machine) && machine.metadata.labels?.[labelKeys.updateResult] !== undefined;

/** The machines of the set that count as available, those that have served longest first. */
export function availableMachines({ machines, settling = new Set() }: SetView): readonly Machine[] {
  const serving = longestAvailable(machines);
  return serving.slice(0, serving.findLastIndex(({ metadata }) => !settling.has(metadata.name)) + 1);
}

/** How many machines of the set count as available. */
export const countAvailable = (view: SetView): number =>
  (view.settling?.size ?? 0) === 0 ? countWhere(view.machines, isAvailable) : availableMachines(view).length;

/** @param spec counted against this instead of `spec.replicas` of the set */
export function sizeOf(view: SetView, spec = view.set.spec?.replicas ?? 0): SetSize {
  const { set, machines } = view;
  return {
    name: set.metadata.name,
    spec,
    existing: machines.length,
    present: countWhere(machines, isPresent),
    available: Math.min(countAvailable(view), spec),
  };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * The intended size of a set in an in-place update, also after its writes were interrupted (MCM, `pkg/controller/deployment_inplace.go` syncMachineSets): it includes
 * each received machine, and in a set that may not create machines it excludes deleted ones. A terminating set is to have none, whatever its `spec.replicas`. Other sets keep theirs.
 */
export function recoveredSize(view: SetView): SetSize {
  if (view.set.metadata.deletionTimestamp != null) return sizeOf(view, 0);
  const size = sizeOf(view);
  const present = countWhere(view.machines, isPresent);
  const received = countWhere(view.machines, isReceived);
  const places = size.spec + Math.max(0, Math.min(received, present - size.spec));
  const isDrawnOn = view.set.metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined;
  return sizeOf(view, isDrawnOn ? Math.min(places, present) : places);
}
