import { annotationKeys, deletionMachinePriority, type Machine, type MachineSet } from "@millwright/core";

/** Whether the machine is the first to go when there are too many: the priority that the cluster-autoscaler gives, or a person. */
export const isPrioritizedForDeletion = ({ metadata: { annotations } }: Machine): boolean =>
  annotations?.[annotationKeys.machinePriority] === String(deletionMachinePriority);

/**
 * Whether the cluster-autoscaler chose this machine, and the change of size that goes with its choice has reached the set
 * (MCM, `pkg/controller/deployment.go` updateMachineAndMachineDeploymentDeletionAnnotations). A younger mark waits for its change, or the machine would be replaced at once; a priority of 1 without a
 * mark, set by hand, does not delete, it only comes first when there are too many.
 */
export function isMarkedForDeletion(machine: Machine, set: MachineSet): boolean {
  if (!isPrioritizedForDeletion(machine)) return false;
  const marked = Date.parse(machine.metadata.annotations?.[annotationKeys.markedForDeletionTime] ?? "");
  // Its deployment hands the time down together with the size, to old sets as well.
  return marked <= Date.parse(set.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler] ?? "");
}
