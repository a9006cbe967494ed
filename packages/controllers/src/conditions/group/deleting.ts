import { clusterApiConditionTypes, clusterApiReasons as reasons } from "@millwright/core/machine-api";
import type { ConditionState } from "@millwright/kube";
import type { JudgedMachine } from "./judged-machine.ts";
import { slowLine } from "./scaling-down.ts";

const type = clusterApiConditionTypes.deleting;

const messageOf = (machines: readonly JudgedMachine[], sets: number, now: Date): string => {
  const { length } = machines;
  if (length > 0) return `Deleting ${length} Machine${length === 1 ? "" : "s"}${slowLine(machines, now)}`;
  return sets > 0 ? `Deleting ${sets} MachineSets` : "Deletion completed";
};

/**
 * Whether the object is being deleted, and what it still waits for (Cluster API, `machinedeployment_status.go`).
 *
 * @param sets how many sets a deployment still has; 0 for a set
 */
export const deleting = (
  isDeleting: boolean,
  machines: readonly JudgedMachine[],
  sets: number,
  now: Date,
): ConditionState =>
  isDeleting
    ? { type, status: "True", reason: reasons.deleting, message: messageOf(machines, sets, now) }
    : { type, status: "False", reason: reasons.notDeleting, message: "" };
