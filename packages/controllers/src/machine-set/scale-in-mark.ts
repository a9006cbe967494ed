import { annotationKeys, deletionMachinePriority, type Machine, type MachineSet } from "@millwright/core";

/**
 * Whether the cluster-autoscaler chose this machine, and the change of size that goes with its choice has reached the set
 * (machineset-machinedeployment.md, 10.1). A younger mark waits for its change, or the machine would be replaced at once; a priority of 1 without a
 * mark, set by hand, does not delete, it only comes first when there are too many.
 */
export function isMarkedForDeletion({ metadata: { annotations } }: Machine, set: MachineSet): boolean {
  if (annotations?.[annotationKeys.machinePriority] !== String(deletionMachinePriority)) return false;
  const marked = Date.parse(annotations[annotationKeys.markedForDeletionTime] ?? "");
  // Its deployment hands the time down together with the size, to old sets as well (F34).
  return marked <= Date.parse(set.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler] ?? "");
}
