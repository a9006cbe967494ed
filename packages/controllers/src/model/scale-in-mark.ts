import { annotationKeys, deletionMachinePriority, type Machine, type MachineSet } from "@millwright/core/machine-api";

/** Whether the machine is deleted first when there are too many: by the priority of the cluster-autoscaler, or of a user. */
export const isPrioritizedForDeletion = ({ metadata: { annotations } }: Machine): boolean =>
  annotations?.[annotationKeys.machinePriority] === String(deletionMachinePriority);

/** Whether the machine has the time of a mark, which only a deployment controller writes. */
export const hasMark = ({ metadata: { annotations } }: Machine): boolean =>
  (annotations?.[annotationKeys.markedForDeletionTime] ?? "") !== "";

/**
 * What follows from the mark of the cluster-autoscaler on a machine (MCM, `pkg/controller/machineset.go` getMachinesMarkedForDeletion): it counts once a change of the size that is not older has
 * reached the set. A younger mark waits for its change, or the machine would be replaced at once. A priority of 1 without a mark, set by hand, does not delete, it is only deleted first when there
 * are too many.
 */
export function stateOfMark(machine: Machine, set: MachineSet): "none" | "waits" | "counts" {
  const marked = Date.parse(machine.metadata.annotations?.[annotationKeys.markedForDeletionTime] ?? "");
  if (!isPrioritizedForDeletion(machine) || Number.isNaN(marked)) return "none";
  // The deployment propagates the time together with the size, to old sets as well.
  const isScaled = marked <= Date.parse(set.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler] ?? "");
  return isScaled ? "counts" : "waits";
}
