import { annotationKeys, deletionMachinePriority, type Machine, type MachineSet } from "@millwright/core";

/** Whether the machine is deleted first when there are too many: by the priority of the cluster-autoscaler, or of a user. */
export const isPrioritizedForDeletion = ({ metadata: { annotations } }: Machine): boolean =>
  annotations?.[annotationKeys.machinePriority] === String(deletionMachinePriority);

/**
 * Whether the cluster-autoscaler selected this machine, and its change of the size has reached the set
 * (MCM, `pkg/controller/deployment.go` updateMachineAndMachineDeploymentDeletionAnnotations). A younger mark waits for its change, or the machine would be replaced at once; a priority of 1 without a
 * mark, set by hand, does not delete, it is only deleted first when there are too many.
 */
export function isMarkedForDeletion(machine: Machine, set: MachineSet): boolean {
  if (!isPrioritizedForDeletion(machine)) return false;
  const marked = Date.parse(machine.metadata.annotations?.[annotationKeys.markedForDeletionTime] ?? "");
  // The deployment propagates the time together with the size, to old sets as well.
  return marked <= Date.parse(set.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler] ?? "");
}
